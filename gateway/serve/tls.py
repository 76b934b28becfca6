"""TLS on a listener: a context made of an operator's files, or what is wrong with them."""

import ssl
from dataclasses import dataclass
from pathlib import Path


class TlsFault(Exception):
    """A listener's certificate, key or client CA cannot be used; the message says which and what to do."""


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """PEM files. With `client_ca` every client has to show a certificate that one of its authorities has signed."""

    cert: str
    key: str
    client_ca: str | None = None

    def context(self) -> ssl.SSLContext:
        """A context for new connections. Raises TlsFault."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        # RFC 8996: what is older is broken.
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        for file in (self.cert, self.key):
            _readable(file)
        try:
            # Without the callback OpenSSL would ask for the pass phrase on the terminal, and wait.
            context.load_cert_chain(self.cert, self.key, password=lambda: "")
        except (OSError, ValueError) as error:
            # Beside ssl.SSLError, which is one: a file that is replaced just now.
            raise TlsFault(
                f"{self.cert} and {self.key} are not a certificate and its private key without a pass phrase in PEM "
                f"({_reason(error)}). Give a certificate and the key that belongs to it."
            ) from None
        if self.client_ca is not None:
            _readable(self.client_ca)
            try:
                context.load_verify_locations(self.client_ca)
            except OSError as error:
                # Beside ssl.SSLError, which is one: a file that is replaced just now.
                raise TlsFault(
                    f"{self.client_ca} holds no certificate authority in PEM ({_reason(error)}). Name a file that does."
                ) from None
            context.verify_mode = ssl.CERT_REQUIRED
        return context

    def stamp(self) -> tuple[tuple[int, int, int] | None, ...]:
        """What tells one state of the files from another without reading them."""
        return tuple(_stamp(file) for file in (self.cert, self.key, self.client_ca) if file is not None)


def _readable(file: str) -> None:
    try:
        with Path(file).open("rb"):
            return
    except OSError as error:
        raise TlsFault(f"{file} cannot be read ({error.strerror}). Name a file that the gateway can read.") from None


def _reason(error: Exception) -> str:
    reason = getattr(error, "reason", None)
    return str(reason or error).replace("_", " ").lower()


def _stamp(file: str) -> tuple[int, int, int] | None:
    try:
        status = Path(file).stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
