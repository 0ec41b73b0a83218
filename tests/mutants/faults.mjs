// The faults, by room, and how they are written into the code.
import { access } from "./faults/access.mjs";
import { channels } from "./faults/channels.mjs";
import { core } from "./faults/core.mjs";
import { http2 } from "./faults/http2.mjs";
import { journal } from "./faults/journal.mjs";
import { postgres } from "./faults/postgres.mjs";
import { sockets } from "./faults/sockets.mjs";

export const faults = [...core, ...journal, ...access, ...postgres, ...sockets, ...channels, ...http2];

// A fault: `at` is a stretch of `file` that stands there once, with ⟦the code⟧ that `fault` takes the place of. Code that ends with ; is a statement, else an expression.
export function apply(all, read) {
  const texts = new Map();
  const lost = [];
  for (const fault of all) {
    const text = texts.get(fault.file) ?? readOrEmpty(read, fault.file);
    const [before, rest] = fault.at.split("⟦");
    const [code, after] = rest.split("⟧");
    const plain = before + code + after;
    const at = text.indexOf(plain);
    if (at < 0 || text.indexOf(plain, at + 1) >= 0) {
      lost.push(Object.assign(fault, { why: at < 0 ? `its code is not in ${fault.file}` : `its code is in ${fault.file} twice` }));
      continue;
    }

    const is = `global::Pnh.Core.Mutant.Is("${fault.name}")`;
    const both = code.endsWith(";") ? `if (${is}) { ${fault.fault} } else { ${code} }` : `(${is} ? (${fault.fault}) : (${code}))`;
    texts.set(fault.file, text.slice(0, at) + before + both + after + text.slice(at + plain.length));
  }

  return { texts, lost };
}

function readOrEmpty(read, file) {
  try {
    return read(file);
  } catch {
    return "";
  }
}
