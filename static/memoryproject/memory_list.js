// What a row's links open beside the list: what a memory stands on, and a form to edit it.
document.addEventListener("click", async (event) => {
  const why = event.target.closest("[data-why]");
  if (why && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    await showWhy(why);
  }
  const editor = event.target.closest("[data-edits]");
  if (editor) edit(editor);
});

async function showWhy(link) {
  const dialog = document.getElementById("why");
  const answer = await fetch(link.dataset.why, { headers: { Accept: "text/html" } }).catch(() => null);
  if (!answer?.ok) {
    location.href = link.href; // its page tells the same, or what is wrong
    return;
  }
  dialog.querySelector("[data-shown]").innerHTML = await answer.text();
  dialog.querySelector("[data-page]").href = link.href;
  dialog.showModal();
}

function edit(button) {
  const dialog = document.getElementById("edit");
  const form = dialog.querySelector("form");
  form.action = button.dataset.edits;
  for (const [name, value] of Object.entries(JSON.parse(button.dataset.row))) form.elements[name].value = value;
  dialog.showModal();
  form.elements.content.focus();
}

document.addEventListener("change", (event) => {
  event.target.closest("form[data-submits-itself]")?.requestSubmit();
});
