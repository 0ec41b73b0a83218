// One line per check, "ok …" or "not ok …", so that .ci/run can count; exit code 1 when one failed or none ran.
let passed = 0;
let failed = 0;

/** Reports one check. `problem` is null, or says what is wrong. */
export function check(name, problem) {
  problem ? failed++ : passed++;
  console.log(problem ? `not ok ${name}: ${String(problem).replaceAll(/\s*\n\s*/g, " | ")}` : `ok ${name}`);
}

/** Reports what `body` throws as the problem; `body` may be asynchronous. Gives what it returns. */
export async function checked(name, body) {
  try {
    const value = await body();
    check(name, null);
    return value;
  } catch (e) {
    check(name, e.message || e);
    return undefined;
  }
}

/** Takes over the lines of another script that reports like this one. */
export function forward(output) {
  for (const line of output.split("\n")) {
    const [, not, name] = /^(not )?ok (.*)$/.exec(line) ?? [];
    if (name) {
      not ? failed++ : passed++;
      console.log(line);
    }
  }
}

export function finish() {
  if (passed + failed === 0) {
    check("at least one check runs", "none ran");
  }

  process.exitCode = failed > 0 ? 1 : 0;
}
