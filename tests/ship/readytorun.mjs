// node readytorun.mjs FOLDER: every assembly of the project in a published folder holds native code.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { check, finish } from "./report.mjs";

for (const name of ["pnh", "Pnh.Core", "Pnh.Channels", "Pnh.Sandbox", "Pnh.Storage", "Pnh.LoadTest"]) {
  check(`${name}.dll is ReadyToRun`, problemOf(join(process.argv[2], `${name}.dll`)));
}

finish();

/** The CLI header's ManagedNativeHeader points at the ReadyToRun header, "RTR\0" (ECMA-335 II.25.3.3; runtime docs, readytorun-format). */
function problemOf(file) {
  const image = readFileSync(file);
  const pe = image.readUInt32LE(0x3c);
  const sections = image.readUInt16LE(pe + 6);
  const optional = pe + 24;
  const directories = optional + (image.readUInt16LE(optional) === 0x20b ? 112 : 96);
  const table = optional + image.readUInt16LE(pe + 20);
  const offsetOf = (address) => {
    for (let at = table; at < table + sections * 40; at += 40) {
      const start = image.readUInt32LE(at + 12);
      if (address >= start && address < start + image.readUInt32LE(at + 16)) {
        return address - start + image.readUInt32LE(at + 20);
      }
    }

    throw new Error(`${file}: no section holds ${address}`);
  };
  const cli = offsetOf(image.readUInt32LE(directories + 14 * 8));
  const native = image.readUInt32LE(cli + 64);
  if (native === 0) {
    return "IL only";
  }

  return image.toString("latin1", offsetOf(native), offsetOf(native) + 4) === "RTR\0" ? null : "native header of another kind";
}
