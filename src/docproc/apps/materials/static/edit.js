// The questions of a quiz: each form is sent by itself, and becomes the quiz's next version.

const questions = document.querySelector("#questions")
const told = document.querySelector("#told")

function tell(text, failed) {
  told.textContent = text
  told.classList.toggle("failed", failed)
  told.hidden = false
  told.scrollIntoView({ block: "nearest" })
}

async function publish(form, remove) {
  const { material, version, published, failed, unreachable } = questions.dataset
  const body = { ...Object.fromEntries(new FormData(form)), remove }
  const address = `/materials/${encodeURIComponent(material)}/questions/${encodeURIComponent(form.dataset.question)}?version=${version}`
  const headers = { "Content-Type": "application/json" }
  const token = document.querySelector("meta[name=csrf]")
  if (token) headers["X-CSRF-Token"] = token.content
  let answer
  try {
    answer = await fetch(address, { method: "PUT", headers, body: JSON.stringify(body) })
  } catch {
    return tell(failed.replace("{problem}", unreachable), true)
  }
  const said = await answer.json().catch(() => null)
  if (!answer.ok) return tell(failed.replace("{problem}", said?.error?.message ?? answer.status), true)
  questions.dataset.version = said.version
  form.querySelector(".tag.doubt")?.remove()
  if (remove) form.remove()
  tell(published.replace("{version}", said.version), false)
}

questions.addEventListener("submit", (event) => {
  event.preventDefault()
  publish(event.target, false)
})
questions.addEventListener("click", (event) => {
  const button = event.target.closest("[data-remove]")
  if (button) publish(button.closest("form"), true)
})
questions.dataset.ready = "true"
