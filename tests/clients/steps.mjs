// What a driver in JavaScript does, step by step: one line of JSON for each, {step, why}.
import assert from "node:assert/strict";

export const URL_OF = process.env.BASE_URL;
export const KEY = process.env.API_KEY;

/** What is said of what must fail. */
export async function fails(act) {
  try {
    await act();
  } catch (error) {
    return error;
  }
  throw new Error("this was not refused");
}

export async function run(steps) {
  for (const [step, act] of Object.entries(steps)) {
    let why = "";
    try {
      await act();
    } catch (error) {
      why = String(error?.stack ?? error).slice(0, 1500) || "it failed";
    }
    console.log(JSON.stringify({ step, why }));
  }
  process.exit(0); // what a client keeps open does not keep us
}

export { assert };
