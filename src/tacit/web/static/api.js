// Talking to the server. Jobs are asked about again and again instead of streamed: a browser keeps six connections to a
// server for all of its tabs together, and streams would use them up.

/** What the server refused, in the command line's words. */
export class Refusal extends Error {
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

const AWAY = "The server does not answer. Is 'tacit serve' still running?";

async function answered(response) {
  const type = response.headers.get("content-type") ?? "";
  const body = type.includes("json") ? await response.json() : await response.text();
  if (response.ok) return body;
  const said = body?.message ?? body?.detail ?? body;
  throw new Refusal(typeof said === "string" && said ? said : `The server said ${response.status}.`, body?.code);
}

async function reached(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...options });
  } catch {
    throw new Refusal(AWAY);
  }
  return answered(response);
}

/** Read something. */
export function read(path) {
  return reached(path);
}

/** Ask a verb: the answer is a job, or the answer itself. */
export function ask(path, body) {
  return reached(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
}

/** Cancel a job. */
export function cancel(id) {
  return reached(`/api/jobs/${encodeURIComponent(id)}`, { method: "DELETE" });
}

/** Remove a job that has ended, with its answer. */
export function forget(id) {
  return reached(`/api/jobs/${encodeURIComponent(id)}?forget=true`, { method: "DELETE" });
}

/** A job as it is now. */
export function job(id) {
  return read(`/api/jobs/${encodeURIComponent(id)}`);
}

export const OVER = new Set(["done", "failed", "cancelled", "interrupted"]);

/** Watch a job until it is over; `tell` hears of every change. A server that is away for a moment is waited for. */
export async function followed(id, tell) {
  for (let pause = 120; ; pause = Math.min(pause * 1.4, 1000)) {
    let now;
    try {
      now = await job(id);
    } catch (error) {
      if (error.message !== AWAY) throw error;
      now = { state: "running", stage: AWAY, share: null };
    }
    tell(now);
    if (OVER.has(now.state)) return now;
    await new Promise((resume) => setTimeout(resume, pause));
  }
}

/** Send a file; `tell` hears which share has been sent. */
export function sent(file, tell) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const form = new FormData();
    form.append("file", file, file.name);
    request.upload.addEventListener("progress", (event) => tell(event.lengthComputable ? event.loaded / event.total : null));
    request.addEventListener("error", () => reject(new Refusal(AWAY)));
    request.addEventListener("load", () => {
      let body = {};
      try {
        body = JSON.parse(request.responseText);
      } catch {
        body = { message: request.responseText };
      }
      if (request.status < 300) resolve(body);
      else reject(new Refusal(body.message || `The server said ${request.status}.`, body.code));
    });
    request.open("POST", "/api/files");
    request.send(form);
  });
}
