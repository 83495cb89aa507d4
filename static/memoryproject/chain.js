// The chain page: the sliders answer while they are moved. Without this file the form is sent by Enter
// or its button.
const form = document.getElementById("as-of");
const PAUSE = 120; // milliseconds after the last move

let waiting, latest;
form.addEventListener("input", (event) => {
  const other = form.elements[event.target.name + "_on"];
  if (other) other.value = "";
  if (event.target.type === "range") tell(event.target);
  clearTimeout(waiting);
  waiting = setTimeout(ask, PAUSE);
});

// What the slider stands at, before the server has answered.
function tell(slider) {
  const isOpen = slider.value === slider.max;
  const timeZone = document.querySelector("meta[name=time-zone]").content;
  const day = new Date(slider.value * 1000).toLocaleString("sv-SE", { dateStyle: "short", timeStyle: "short", timeZone });
  const words = isOpen ? slider.dataset.openEnd : day;
  slider.setAttribute("aria-valuetext", words);
  slider.closest("fieldset").querySelector("output").textContent = words;
  const share = (slider.value - slider.min) / (slider.max - slider.min);
  slider.parentElement.querySelector(".desk-axis__at").style.left = `${share * 100}%`;
}

async function ask() {
  const query = asked();
  const turn = (latest = {});
  const answer = await fetch(`?${query}`);
  const html = await answer.text();
  if (turn !== latest || !answer.ok) return;
  const page = new DOMParser().parseFromString(html, "text/html");
  show(page.getElementById("as-of-told"));
  history.replaceState(null, "", `?${query}`);
}

// What is open stays out of the address: it shall mean the same tomorrow.
function asked() {
  const data = new FormData(form);
  for (const input of form.elements) {
    if (!input.value || (input.type === "range" && input.value === input.max)) data.delete(input.name);
  }
  return new URLSearchParams(data).toString();
}

function show(told) {
  document.getElementById("as-of-told").replaceWith(told);
  const believed = told.dataset.believed.split(" ");
  for (const version of document.querySelectorAll("[data-version]")) {
    const isBeyond = !told.dataset.now && !believed.includes(version.dataset.version);
    version.classList.toggle("is-beyond", isBeyond);
  }
}
