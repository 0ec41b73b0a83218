// node arm64.mjs FOLDER: what was published for linux-arm64 is of that machine, as far as it can be looked at here: nothing of it is run.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { check, finish } from "./report.mjs";

const folder = process.argv[2];

// ELF: e_machine. PE of ReadyToRun: ARM64, exclusive-or the number of Linux (runtime docs, readytorun-format).
const elfMachine = 183;
const peMachine = 0xaa64 ^ 0x7b79;
const names = readdirSync(folder);

check("the program is an ELF of AArch64", elfOf("pnh"));
for (const name of names.filter((name) => name.endsWith(".so"))) {
  check(`${name} is an ELF of AArch64`, elfOf(name));
}

check("SQLite is among them", names.includes("libe_sqlite3.so") ? null : names.filter((name) => name.endsWith(".so")).join(", "));
for (const name of ["pnh", "Pnh.Core", "Pnh.Channels", "Pnh.Sandbox", "Pnh.Storage", "Pnh.LoadTest"]) {
  const image = readFileSync(join(folder, `${name}.dll`));
  const machine = image.readUInt16LE(image.readUInt32LE(0x3c) + 4);
  check(`${name}.dll is compiled for AArch64`, machine === peMachine ? null : `machine 0x${machine.toString(16)}`);
}

finish();

function elfOf(name) {
  const image = readFileSync(join(folder, name));
  return image.toString("latin1", 0, 4) !== "\u007fELF" ? "no ELF" : image.readUInt16LE(18) === elfMachine ? null : `machine ${image.readUInt16LE(18)}`;
}
