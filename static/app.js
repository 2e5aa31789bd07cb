// Every page works without this script. It keeps what is on the screen up to date
// and takes nothing away from the person's hands.
//
// Frame: {"seq":n,"parts":[{"id","v","html"}],"news":n,"reload":bool,"asOf":"RFC 3339"}.
// A part replaces the element with its id unless that one's data-v is higher.
// A frame comes at least every ten seconds, an empty one if nothing changed.

const body = document.body;
const byId = (id) => document.getElementById(id);
const one = (css) => document.querySelector(css);
const all = (css) => [...document.querySelectorAll(css)];
const live = byId("live");
const address = body.dataset.live;
// Storage may be switched off.
const store = (k, v) => { try { return v === undefined ? sessionStorage.getItem(k) : sessionStorage.setItem(k, v); } catch { return null; } };

// Words come with the page, in the reader's language.

const words = JSON.parse(live.dataset.words);
const word = (key, value) => words[key].replace("{}", value);
let mode = "";
let asOf = Date.parse(body.dataset.now);
let skew = asOf - Date.now(); // the database's clock minus this machine's

function show(next) {
  const changed = next !== mode && mode && mode !== "connecting";
  mode = next;
  live.dataset.mode = mode;
  const at = new Date(asOf).toLocaleTimeString("sv", { timeZone: body.dataset.zone });
  live.querySelector(".live-w").textContent = word(mode, at);
  live.querySelector(".live-r").hidden = mode === "live";
  const button = live.querySelector(".live-p");
  button.hidden = false;
  button.textContent = word(mode === "paused" ? "resume" : "pause");
  if (changed) say(word("is" + mode));
}

let lastSaid = -1e9;
let toSay = "";
let sayTimer = 0;
// At most one message in ten seconds; only the newest waits.
function say(text) {
  toSay = text;
  clearTimeout(sayTimer);
  sayTimer = setTimeout(() => {
    byId("status").textContent = toSay;
    lastSaid = performance.now();
  }, Math.max(50, lastSaid + 10000 - performance.now()));
}

function fresh(t) {
  if (!t || t < asOf) return;
  asOf = t;
  skew = asOf - Date.now();
  if (mode) show(mode);
}

// Relative times, as views/locale writes them.

function age(seconds) {
  const s = Math.max(0, Math.floor(seconds));
  const [unit, size] = s < 60 ? ["s", 1] : s < 3600 ? ["min", 60] : s < 172800 ? ["h", 3600] : ["d", 86400];
  return word(unit, Math.floor(s / size));
}

function relative(el) {
  const s = (Date.now() + skew - Date.parse(el.dateTime)) / 1000;
  if (el.dataset.rel === "age") return age(s);
  if (Math.abs(s) < 1) return words.now;
  return s < 0 ? word("in", age(-s)) : word("ago", age(s));
}

function tick() {
  if (document.hidden || held() || mode === "paused") return;
  for (const el of all("time[data-rel]")) {
    const text = relative(el);
    if (el.textContent !== text) el.textContent = text;
  }
}

// Patches.

const waiting = new Map(); // id → {v, node}; newest only
let frame = 0;

// Patches wait while text is selected or a dialog is open.
function held() {
  if (one("dialog[open]")) return true;
  const s = getSelection();
  return !!s && !s.isCollapsed && byId("main").contains(s.anchorNode) && s.toString() !== "";
}

function parse(html) {
  const t = document.createElement("template");
  t.innerHTML = html;
  return t.content.firstElementChild;
}

function enqueue(id, v, node) {
  const old = waiting.get(id);
  if (node && (!old || old.v <= v)) waiting.set(id, { v, node });
  if (!frame) frame = requestAnimationFrame(flush);
}

function flush() {
  frame = 0;
  if (held()) {
    setTimeout(() => { if (!frame && waiting.size) frame = requestAnimationFrame(flush); }, 300);
    return;
  }
  for (const [id, p] of waiting) {
    const el = byId(id);
    if (!el || Number(el.dataset.v) > p.v) continue;
    if (el.dataset.part === "rows") patchRows(el, p.node);
    else merge(el, p.node);
  }
  waiting.clear();
  enhance();
  tick();
}

// Rows are patched where they stand. None is added, moved or removed.
function patchRows(el, next) {
  const seen = new Set();
  let more = 0;
  for (const row of [...next.children]) {
    const old = byId(row.id);
    if (old && el.contains(old)) { seen.add(row.id); merge(old, row); } else more++;
  }
  for (const row of el.children) if (!seen.has(row.id)) row.classList.add("gone");
  el.dataset.v = next.dataset.v;
  if (more) news(more);
}

const typed = (el) => el.matches("textarea,select,input:not([type=hidden],[type=checkbox])");

const rules = {
  beforeNodeMorphed(old, next) {
    if (old.nodeType !== 1) return true;
    if ("keep" in old.dataset) return false;
    // A ticking time is the script's while it is the same time.
    return !(old.localName === "time" && old.dataset.rel && old.dateTime === next.dateTime);
  },
  beforeAttributeUpdated(name, el) {
    if (name === "open" && el.localName === "details") return false;
    if (name === "checked" || name === "selected") return false;
    if (name === "hidden" && "own" in el.dataset) return false;
    if (name === "value") return !(typed(el) || el.name === "token");
    return true;
  },
};

function merge(el, next) {
  const state = el.querySelector(".st")?.textContent.trim();
  const focus = el.contains(document.activeElement);
  if (!el.querySelector(".c-tick")) next.querySelector(".c-tick")?.remove(); // a list without ticks
  Idiomorph.morph(el, next, { morphStyle: "outerHTML", callbacks: rules });
  // A button that went because the job moved takes the focus along: hand it on.
  if (focus && document.activeElement === body) {
    const to = el.querySelector("button,a,input:not([type=hidden])") || byId("main");
    to.focus({ preventScroll: true });
  }
  const now = el.querySelector(".st")?.textContent.trim();
  if (el.id === "job-header" && state !== now) say(word("state", now));
}

let newRows = 0;
function news(n) {
  newRows = Math.max(newRows, n);
  const box = byId("news");
  box.querySelector("a").textContent = word("news", newRows);
  if (box.hidden) say(word("newRows", newRows));
  box.hidden = false;
}

// The whole page, once: after a gap, and instead of a socket.

let etag = "";
async function refetch() {
  const res = await fetch(location.href, { headers: { "If-None-Match": etag }, cache: "no-store" });
  if (res.status === 304) return fresh(Date.now() + skew);
  if (!res.ok || res.redirected) throw new Error("status " + res.status);
  etag = res.headers.get("ETag") || "";
  adopt(new DOMParser().parseFromString(await res.text(), "text/html"));
}

function adopt(doc) {
  let more = 0;
  for (const el of doc.querySelectorAll("[data-part]")) {
    if (byId(el.id)) enqueue(el.id, Number(el.dataset.v), el);
    else if (el.dataset.part === "row") more++;
  }
  // On a list of one page, a row that is missing has left the filter.
  const whole = doc.querySelector(".pager,.empty-nomatch") && !doc.querySelector("[rel=next]");
  if (whole) for (const row of all("tr[data-part=row]")) if (!doc.getElementById(row.id)) row.classList.add("gone");
  if (more) news(more);
  fresh(Date.parse(doc.body.dataset.now));
}

// The socket.

let socket = null;
let tries = 0;  // since the last one that opened
let timer = 0;
let poller = 0;
let seq = 0;
let heard = 0; // when the socket last opened or spoke

const wanted = () => address && mode !== "paused" && !document.hidden;

function connect() {
  clearTimeout(timer);
  if (!wanted() || socket) return;
  const u = new URL(address, location.href);
  u.protocol = u.protocol.replace("http", "ws");
  const s = new WebSocket(u);
  socket = s;
  seq = 0;
  s.onopen = () => {
    const again = tries > 0 || poller;
    tries = 0;
    clearInterval(poller);
    poller = 0;
    show("live");
    heard = Date.now();
    if (again) refetch().catch(() => {});
  };
  s.onmessage = (e) => { heard = Date.now(); receive(JSON.parse(e.data)); };
  s.onclose = () => { if (socket === s) { socket = null; lost(); } };
}

function receive(f) {
  const gap = seq && f.seq > seq + 1;
  seq = f.reload ? 0 : f.seq; // frames left out before a reload are in its fetch
  for (const p of f.parts || []) {
    etag = ""; // no longer the page that it stands for
    enqueue(p.id, Number(p.v), parse(p.html));
  }
  if (f.news) news(f.news);
  fresh(Date.parse(f.asOf));
  if (f.reload || gap) refetch().catch(() => {});
}

function lost() {
  if (!wanted()) return;
  tries++;
  if (tries >= 3 && !poller) {
    poller = setInterval(() => { if (wanted()) refetch().then(() => show("polling")).catch(() => show("reconnecting")); }, 15000);
  }
  show(poller ? "polling" : "reconnecting");
  timer = setTimeout(connect, Math.min(30000, 500 * 2 ** (tries - 1)) * (0.5 + Math.random() / 2));
}

function disconnect() {
  clearTimeout(timer);
  clearInterval(poller);
  poller = 0;
  const s = socket;
  socket = null;
  s?.close();
}

function resume() {
  if (!wanted()) return;
  tries ||= 1; // there was a gap
  connect();
}

// What the pages offer beyond links and forms.

function enhance() {
  for (const el of all("[data-own][hidden]")) el.hidden = false;
  for (const el of all("input[name=token]")) el.value = body.dataset.token;
  ticked();
}

const boxes = () => all("input[name=target][type=checkbox]");
function ticked() {
  const hint = one("[data-ticked]");
  if (!hint) return;
  const every = boxes();
  const n = every.filter((b) => b.checked).length;
  hint.dataset.rest ||= hint.textContent;
  hint.textContent = n ? word("ticked", n) : hint.dataset.rest;
  const box = one("[data-all]");
  box.checked = n > 0 && n === every.length;
  box.indeterminate = n > 0 && n < every.length;
}

addEventListener("change", (e) => {
  if ("all" in e.target.dataset) for (const b of boxes()) b.checked = e.target.checked;
  ticked();
});

addEventListener("click", async (e) => {
  const copy = e.target.closest("[data-copy]");
  if (copy) {
    const from = byId(copy.dataset.copy);
    try {
      await navigator.clipboard.writeText(from.textContent);
      say(words.copied);
      say((copy.textContent = words.copied));
      setTimeout(() => (copy.textContent = words.copy), 2000);
    } catch {
      getSelection().selectAllChildren(from);
    }
  }
  if (e.target.closest(".live-p")) pause();
  if (e.target.id === "local") e.target.form.zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone;
});

// Single keys, unless switched off.
const keys = {
  "?": () => byId("keys").togglePopover(),
  "/": () => { const q = byId("q"); if (q) q.focus(); else byId("find").click(); },
  p: () => address && pause(),
};
addEventListener("keydown", (e) => {
  const act = keys[e.key];
  if (!act || body.dataset.keys || e.ctrlKey || e.metaKey || e.altKey || typed(e.target)) return;
  e.preventDefault();
  act();
});

// These forms answer in place, so that open details and the scroll position stay.
// The answer is the page after the redirect.
addEventListener("submit", async (e) => {
  const form = e.target;
  if (!("inline" in form.dataset) || !address) return;
  e.preventDefault();
  try {
    const data = new URLSearchParams(new FormData(form, e.submitter));
    const res = await fetch(form.action, { method: "POST", body: data });
    const doc = new DOMParser().parseFromString(await res.text(), "text/html");
    const note = doc.querySelector("#notice");
    if (res.ok && note) byId("notice").replaceChildren(...note.childNodes);
    if (!res.ok) {
      byId("notice").replaceChildren(...doc.querySelectorAll(".title,.lead"));
      return refetch();
    }
    etag = "";
    adopt(doc);
  } catch {
    location.reload();
  }
});

function pause() {
  const on = mode !== "paused";
  store("paused", on ? "1" : "");
  show(on ? "paused" : "reconnecting");
  if (on) disconnect(); else resume();
}

addEventListener("visibilitychange", () => (document.hidden ? disconnect() : resume()));
addEventListener("pageshow", (e) => { if (e.persisted) resume(); });
addEventListener("pagehide", disconnect);
// The event may come late, when the network is back.
addEventListener("offline", () => { if (socket && !navigator.onLine) { disconnect(); lost(); } });

enhance();
setInterval(() => {
  tick();
  // A connection that died without a word.
  if (mode === "live" && Date.now() - heard > 35000) { disconnect(); lost(); }
}, 1000);
if (address) {
  show(store("paused") ? "paused" : "connecting");
  connect();
}
