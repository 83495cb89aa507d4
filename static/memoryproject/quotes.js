// A quote opens in the words around it. Without this file it leads to its episode.
const dialog = document.createElement("dialog");
dialog.className = "desk-dialog desk-dialog--wide desk";
document.body.append(dialog);
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});

document.addEventListener("click", (event) => {
  const quote = event.target.closest("a.desk-quote");
  if (!quote || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  openSource(quote.href);
});

async function openSource(url) {
  const answer = await fetch(url);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const said = page.querySelector("#content-main .desk-text");
  if (!answer.ok || !said) return location.assign(url);
  const title = document.createElement("h2");
  title.textContent = page.querySelector("#content-main h1").textContent;
  dialog.replaceChildren(title, boxed(said), footing(url));
  dialog.setAttribute("aria-label", title.textContent);
  dialog.showModal();
  dialog.querySelector("mark.is-asked")?.scrollIntoView({ block: "center" });
}

function boxed(said) {
  const box = document.createElement("div");
  box.className = "desk-dialog__text";
  box.append(said);
  return box;
}

function footing(url) {
  const end = document.createElement("form");
  end.method = "dialog";
  end.className = "desk-dialog__end";
  end.innerHTML = '<a class="desk-link">Open the episode</a><button class="desk-link">Close</button>';
  end.querySelector("a").href = url;
  return end;
}
