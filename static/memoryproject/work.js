// The corner that shows long work while it runs, and the bars of its own pages.
(() => {
  const QUICK = 2000, SLOW = 30000, SHOWN_AFTERWARDS = 12000; // milliseconds
  const HIDDEN = "work-hidden";
  let corner, spoken, timer, known;

  function hidden() {
    return JSON.parse(sessionStorage.getItem(HIDDEN) ?? "[]");
  }

  // Aloud: what begins, each quarter, and what came of it; not every second.
  function say(jobs) {
    const now = new Map(jobs.map((job) => [job.id, job.running ? Math.floor((job.share ?? 0) / 25) : 4]));
    const news = jobs.filter((job) => known && known.get(job.id) !== now.get(job.id) && (job.running || known.has(job.id)));
    if (news.length) spoken.textContent = news.map((job) => `${job.title}: ${job.running ? job.note : job.state}`).join(". ");
    known = now;
  }

  function bar(progress, job) {
    if (job.running && job.share === null) progress.removeAttribute("value");
    else progress.value = job.running ? job.share : 100;
  }

  function fill(jobs, ended) {
    const wanted = jobs.filter((job) => !hidden().includes(job.id));
    const shown = wanted[0] ?? ended[0];
    corner.hidden = !shown;
    document.body.classList.toggle("has-work", !corner.hidden);
    if (!shown) return;
    const more = wanted.length > 1 ? ` ${corner.dataset.more.replace("%", wanted.length - 1)}` : "";
    const link = corner.querySelector("a");
    link.textContent = shown.title + more;
    link.href = wanted.length > 1 ? corner.dataset.list : shown.url;
    corner.querySelector("p").textContent = shown.running ? shown.note : shown.state;
    const progress = corner.querySelector("progress");
    progress.hidden = !shown.running;
    progress.setAttribute("aria-label", shown.title);
    bar(progress, shown);
  }

  // Whoever looks at a list or page of it sees it end there, too.
  function update(jobs) {
    for (const place of document.querySelectorAll("[data-job]")) {
      const job = jobs.find((each) => each.id === place.dataset.job);
      if (!job) continue;
      bar(place.querySelector("progress"), job);
      place.querySelector("[data-note]").textContent = job.note;
      if (!job.running && !document.querySelector("dialog[open]")) location.reload();
    }
  }

  async function look() {
    let wait = SLOW;
    try {
      const url = new URL(corner.dataset.url, location.href);
      for (const place of document.querySelectorAll("[data-job]")) url.searchParams.append("shown", place.dataset.job);
      const answer = await fetch(url, { headers: { Accept: "application/json" } });
      if (answer.redirected || !answer.ok) throw new Error(String(answer.status));
      const { jobs } = await answer.json();
      const running = jobs.filter((job) => job.running);
      const ended = jobs.filter((job) => !job.running && known?.has(job.id) && known.get(job.id) !== 4);
      say(jobs);
      update(jobs);
      fill(running, ended);
      if (running.length) wait = QUICK;
      else if (ended.length) wait = SHOWN_AFTERWARDS;
    } catch {
      fill([], []); // the server is away, or the session is over: later again
    }
    clearTimeout(timer);
    timer = setTimeout(() => document.hidden || look(), wait);
  }

  document.addEventListener("DOMContentLoaded", () => {
    corner = document.getElementById("work-corner");
    if (!corner) return;
    spoken = document.getElementById("work-spoken");
    corner.querySelector("button").addEventListener("click", async () => {
      const answer = await fetch(corner.dataset.url);
      const { jobs } = await answer.json();
      sessionStorage.setItem(HIDDEN, JSON.stringify(jobs.map((job) => job.id)));
      fill([], []);
    });
    document.addEventListener("visibilitychange", () => document.hidden || look());
    if (corner.dataset.running !== "0" || document.querySelector("[data-job]")) look();
    else timer = setTimeout(() => document.hidden || look(), SLOW);
  });
})();
