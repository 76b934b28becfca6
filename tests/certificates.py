"""Certificates of an authority that exists for one test."""

import datetime
import ipaddress
import ssl
from dataclasses import dataclass, field
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

_DAY = datetime.timedelta(days=1)
# This and the key identifiers of both: from Python 3.13 on, certificates without them are not trusted (RFC 5280).
_SIGNS_CERTIFICATES = x509.KeyUsage(
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=False,
    encipher_only=False,
    decipher_only=False,
)


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


@dataclass
class Authority:
    """Writes its own certificate and those that it issues into `directory`."""

    directory: Path
    name: str = "authority"
    key: EllipticCurvePrivateKey = field(default_factory=lambda: generate_private_key(SECP256R1()))

    def __post_init__(self) -> None:
        self.directory.mkdir(exist_ok=True)
        self.ca = self.directory / f"{self.name}.pem"
        constraints = x509.BasicConstraints(ca=True, path_length=0)
        signed = (
            self._builder(self.name, self.key)
            .add_extension(constraints, critical=True)
            .add_extension(_SIGNS_CERTIFICATES, critical=True)
        )
        self.ca.write_bytes(signed.sign(self.key, SHA256()).public_bytes(Encoding.PEM))

    def issue(self, name: str) -> tuple[Path, Path]:
        """Certificate and key for `localhost` and 127.0.0.1, under that common name. A second call renews them."""
        key = generate_private_key(SECP256R1())
        names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        built = self._builder(name, key).add_extension(x509.SubjectAlternativeName(names), critical=False)
        cert, kept = self.directory / f"{name}.crt", self.directory / f"{name}.key"
        cert.write_bytes(built.sign(self.key, SHA256()).public_bytes(Encoding.PEM))
        kept.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return cert, kept

    def client(self, *shown: Path) -> ssl.SSLContext:
        """Who trusts this authority, and shows a certificate and its key, if any."""
        context = ssl.create_default_context(cafile=self.ca)
        if shown:
            context.load_cert_chain(*shown)
        return context

    def server(self, name: str) -> ssl.SSLContext:
        """Who serves under a certificate that this authority issues. `renew` gives it another one."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.renew(context, name)
        return context

    def renew(self, context: ssl.SSLContext, name: str) -> None:
        """Connections that begin from now on are served under a new certificate."""
        context.load_cert_chain(*self.issue(name))

    def _builder(self, name: str, key: EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(_name(name))
            .issuer_name(_name(self.name))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - _DAY)
            .not_valid_after(now + _DAY)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), critical=False)
        )
