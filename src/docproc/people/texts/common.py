"""Words that every page has."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    "station": ("Review station", "Estación de revisión"),
    "queue": ("Tasks", "Tareas"),
    "supervision": ("Supervision", "Supervisión"),
    "language": ("Language", "Idioma"),
    "signed_in_as": ("You are {name}", "Eres {name}"),
    "sign_out": ("Sign out", "Salir"),
    "skip_to_content": ("Skip to the content", "Saltar al contenido"),
    "shortcuts": ("Keyboard shortcuts", "Atajos de teclado"),
    "close": ("Close", "Cerrar"),
    "error": ("Something went wrong", "Algo ha fallado"),
    "no_script": ("This page needs JavaScript.", "Esta página necesita JavaScript."),
}
