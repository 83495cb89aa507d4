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
const NAMES = { dock_to_right: "Menu", close: "Close", more_horiz: "More", more_vert: "More" };
const CLICKED = "[x-on\\:click]:not(button, a[href], input, label, #changelist-filter-close)";

function isIcon(element) {
  return element.matches(".material-symbols-outlined") || element.textContent.trim() === element.querySelector(".material-symbols-outlined")?.textContent.trim();
}

function forAllHands() {
  document.getElementById("searchbar-submit")?.setAttribute("aria-label", "Search");
  document.querySelector("#nav-sidebar-apps a.active")?.setAttribute("aria-current", "page");
  for (const icon of document.querySelectorAll(".material-symbols-outlined:not([role])")) {
    if (!icon.matches(CLICKED)) icon.setAttribute("aria-hidden", "true");
  }
  for (const element of document.querySelectorAll(CLICKED)) {
    element.tabIndex = 0;
    element.setAttribute("role", "button");
    if (element.matches("#nav-sidebar-inner > :last-child > div")) element.setAttribute("aria-label", "Account");
    else if (element.querySelector("[x-text*=adminTheme]")) element.setAttribute("aria-label", "Theme");
    else if (isIcon(element)) {
      const icon = element.textContent.trim();
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

// A form that is opened beside a memory is written into at once.
document.addEventListener("toggle", (event) => {
  if (event.target.open && event.target.matches(".desk-known__acts details")) event.target.querySelector("textarea, select")?.focus();
}, true);

// Boxes that are picked from by typing have the name of the field that they stand for.
function nameBoxes() {
  for (const field of document.querySelectorAll("select.select2-hidden-accessible")) {
    const name = field.labels[0]?.textContent.trim() || field.getAttribute("aria-label") || field.name;
    const box = field.nextElementSibling;
    for (const part of box?.querySelectorAll("[role=combobox], [role=textbox], [role=searchbox]") ?? []) part.setAttribute("aria-label", name);
  }
}
addEventListener("load", () => setTimeout(nameBoxes));

// The server tells times in the zone that it knows of: this is how it comes to know the browser's.
const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (ZONE && !document.cookie.split("; ").includes(`time_zone=${ZONE}`)) {
  document.cookie = `time_zone=${ZONE}; path=/admin/; max-age=31536000; samesite=lax`;
}

// Times and numbers come as they sort (2026-03-31 14:05, 1,234.5), and are read as the browser's locale
// writes them. A time stands for the zone that the page names, whatever the browser's is.
const SORTED = /^(\d{4})-(\d\d)-(\d\d)(?: (\d\d):(\d\d)(?::\d\d)?)?$/;
const NUMBER = /^\d{1,3}(,\d{3})*(\.\d+)?(\+?)$/;

function inLocale(root) {
  const zone = document.querySelector("meta[name=time-zone]")?.content;
  for (const cell of root.querySelectorAll("time, td, td a, th a, dd, data, .desk-tile strong")) {
    const place = cell.childElementCount ? null : cell.firstChild;
    const text = place?.data?.trim() ?? "";
    const time = SORTED.exec(text);
    const number = NUMBER.exec(text);
    if (time) {
      const at = Date.UTC(time[1], time[2] - 1, time[3], time[4] ?? 0, time[5] ?? 0);
      place.data = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: time[4] && "short", timeZone: "UTC" }).format(at);
      if (time[4] && !cell.title) cell.title = `${text} ${zone}`;
    } else if (number && cell.localName !== "time") {
      const decimals = (number[2] ?? ".").length - 1;
      const value = Number(text.replace(/[,+]/g, ""));
      place.data = value.toLocaleString(undefined, { minimumFractionDigits: decimals, maximumFractionDigits: decimals }) + number[3];
    }
  }
}
document.addEventListener("htmx:afterSwap", (event) => inLocale(event.target));

document.addEventListener("DOMContentLoaded", () => {
  inLocale(document);
  forAllHands();
  document.querySelector("mark.is-asked")?.scrollIntoView({ block: "center" });
  const tabs = document.querySelector("#tabs-items"), here = tabs?.querySelector(".active");
  if (here) tabs.scrollLeft = here.offsetLeft - tabs.offsetLeft - 16;
});
