// Buttons that ask before they act, buttons that copy, and the keyboard where unfold forgot it.
document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-opens]");
  if (opener) document.getElementById(opener.dataset.opens).showModal();
  event.target.closest("[data-closes]")?.closest("dialog").close("");

  const copier = event.target.closest("[data-copies]");
  if (copier) copy(document.getElementById(copier.dataset.copies).textContent, copier);
});

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    copyBySelection(text); // no clipboard over plain HTTP
  }
  const told = (button.dataset.told ??= button.textContent); // a second copy finds "Copied" there
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = told), 1500);
}

function copyBySelection(text) {
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

// Icons are written as words ("edit"): they are for the eye, unless they are the whole button.
const NAMES = { dock_to_right: "Menu", close: "Close", "": "Account" };
const CLICKED = "[x-on\\:click]:not(button, a[href], input, label, #changelist-filter-close)";

function forAllHands() {
  for (const icon of document.querySelectorAll(".material-symbols-outlined:not([role])")) {
    if (!icon.matches(CLICKED)) icon.setAttribute("aria-hidden", "true");
  }
  for (const element of document.querySelectorAll(CLICKED)) {
    element.tabIndex = 0;
    element.setAttribute("role", "button");
    const icon = element.matches(".material-symbols-outlined") ? element.textContent.trim() : "";
    if (icon || element.matches("#nav-sidebar-inner > :last-child > div")) {
      element.setAttribute("aria-label", NAMES[icon] ?? icon);
    }
  }
}

// Where Enter begins a line, Ctrl and Enter do what the form's main button does.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || !event.target.matches("textarea")) return;
  const form = event.target.form;
  if (!form || form.closest("#review")) return;
  event.preventDefault();
  form.requestSubmit(form.querySelector("button:not([type=button])"));
});

document.addEventListener("keydown", (event) => {
  if (!["Enter", " "].includes(event.key) || !event.target.matches(CLICKED)) return;
  event.preventDefault();
  event.target.click();
});

document.addEventListener("DOMContentLoaded", () => {
  forAllHands();
  document.querySelector("mark.is-asked")?.scrollIntoView({ block: "center" });
});
