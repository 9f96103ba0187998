"""The settings of documents: DOCPROC_* variables that only this application reads."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, SecretStr

from docproc.settings import Settings, SettingsSection


class DocumentsSettings(SettingsSection):
    """How files are read and understood. `settings.section(DocumentsSettings)` gives them."""

    # specified (spec §10.1)
    classification_confidence_threshold: float = Field(default=0.80, ge=0, le=1)
    extraction_confidence_threshold: float = Field(default=0.75, ge=0, le=1)

    max_pages: int = Field(default=2000, ge=1)
    ocr_engine: str = "rapidocr"
    # Weights that `docproc learn` made; unset and embedded: a folder under home, else only the packaged ones.
    models_path: Path | None = None
    # A language model for fields that are missing or doubtful; off without an address.
    llm_url: str | None = None
    llm_model: str = "default"
    llm_api_key: SecretStr | None = None
    llm_timeout_seconds: float = Field(default=20.0, gt=0)


def models_folder(settings: Settings) -> Path | None:
    """Where learnt weights lie: as set; else with the embedded database. None: the packaged ones only."""
    said = settings.section(DocumentsSettings).models_path
    if said is not None:
        return said.expanduser().absolute()
    return settings.home.expanduser().absolute() / "models" if settings.is_embedded else None
