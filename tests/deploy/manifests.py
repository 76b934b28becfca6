"""The objects that an overlay of `deploy/kubernetes` stands for, found as kustomize finds them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.pages import ROOT

KUBERNETES = ROOT / "deploy" / "kubernetes"
# Untyped: YAML, whose shapes are the schemas' to check.
Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Manifests:
    """All objects of an overlay."""

    objects: tuple[Object, ...]

    def of(self, kind: str) -> list[Object]:
        return [each for each in self.objects if each["kind"] == kind]

    def named(self, kind: str, name: str) -> Object:
        (found,) = (each for each in self.of(kind) if each["metadata"]["name"] == name)
        return found

    def pods(self) -> dict[str, Object]:
        """By the name of what makes them."""
        makers = (*self.of("Deployment"), *self.of("StatefulSet"))
        return {maker["metadata"]["name"]: maker["spec"]["template"] for maker in makers}

    def selected(self, labels: dict[str, str]) -> list[Object]:
        """Pods that have all of these labels."""
        return [pod for pod in self.pods().values() if labels.items() <= pod["metadata"]["labels"].items()]


def overlay(name: str) -> Manifests:
    return Manifests(tuple(_objects(KUBERNETES / "overlays" / name)))


def _objects(directory: Path) -> Iterator[Object]:
    kustomization = yaml.safe_load((directory / "kustomization.yaml").read_text())
    for resource in kustomization["resources"]:
        path = directory / resource
        if path.is_dir():
            yield from _objects(path)
        else:
            yield from yaml.safe_load_all(path.read_text())
    for generator in kustomization.get("configMapGenerator", ()):
        data = {Path(file).name: (directory / file).read_text() for file in generator["files"]}
        yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": generator["name"]}, "data": data}
