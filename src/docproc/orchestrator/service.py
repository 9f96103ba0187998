"""The SDK for services in Python: decorate a function, and it is called with tasks of the orchestrator."""

from docproc.apps.orchestrator.sdk.service import Service as Service
from docproc.apps.orchestrator.sdk.task import BusinessError as BusinessError
from docproc.apps.orchestrator.sdk.task import RetryLater as RetryLater
from docproc.apps.orchestrator.sdk.task import ServiceTask as ServiceTask
from docproc.apps.orchestrator.sdk.task import ToolError as ToolError

__all__ = ["BusinessError", "RetryLater", "Service", "ServiceTask", "ToolError"]
