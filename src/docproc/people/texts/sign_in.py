"""Words of the sign-in page."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    "sign_in": ("Sign in", "Entrar"),
    "sign_in_name": ("User name", "Usuario"),
    "sign_in_password": ("Password", "Contraseña"),
    "sign_in_or": ("or", "o"),
    "sign_in_provider": ("Sign in with your company account", "Entrar con tu cuenta de empresa"),
    "sign_in_wrong": (
        "That name and password do not go together. Check both and try again.",
        "El usuario y la contraseña no coinciden. Revísalos y vuelve a intentarlo.",
    ),
    "sign_in_wait": (
        "Too many attempts. Try again in {seconds} seconds.",
        "Demasiados intentos. Vuelve a intentarlo dentro de {seconds} segundos.",
    ),
    "sign_in_unproven": (
        "Your company account could not be checked. Try again; if it goes on, tell an administrator.",
        "No hemos podido comprobar tu cuenta de empresa. Vuelve a intentarlo; si sigue fallando, avisa a un "
        "administrador.",
    ),
    "sign_in_unlinked": (
        "Nobody here is linked with your company account. Give an administrator this identity: {subject}",
        "Tu cuenta de empresa no está vinculada a nadie de aquí. Dale a un administrador este identificador: "
        "{subject}",
    ),
    "password_change": ("Change password", "Cambiar contraseña"),
    "password_old": ("Current password", "Contraseña actual"),
    "password_new": (
        "New password (at least {shortest} characters)",
        "Contraseña nueva (mínimo {shortest} caracteres)",
    ),
    "password_again": ("New password again", "Repite la contraseña nueva"),
    "password_save": ("Save", "Guardar"),
    "password_saved": (
        "Your password has been changed. You have been signed out everywhere else.",
        "Has cambiado la contraseña. Se ha cerrado tu sesión en los demás dispositivos.",
    ),
    "password_wrong": ("The current password is not right.", "La contraseña actual no es correcta."),
    "password_differs": ("The new passwords differ.", "Las contraseñas nuevas no coinciden."),
    "password_length": (
        "A password has {shortest} to {longest} characters.",
        "La contraseña debe tener entre {shortest} y {longest} caracteres.",
    ),
    "sign_in_ended": ("You have signed out.", "Has salido."),
}
