// Buttons that ask before they act, and buttons that copy. Everything else works without this file.
document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-opens]");
  if (opener) document.getElementById(opener.dataset.opens).showModal();

  const copier = event.target.closest("[data-copies]");
  if (copier) copy(document.getElementById(copier.dataset.copies).textContent, copier);
});

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    copyBySelection(text); // no clipboard over plain HTTP
  }
  const told = button.textContent;
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

document.addEventListener("DOMContentLoaded", () => {
  document.querySelector("mark.is-asked")?.scrollIntoView({ block: "center" });
});
