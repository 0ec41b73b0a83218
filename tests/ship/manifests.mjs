// What kustomize renders: known fields only (TypeScript against kubernetes-types), right types and formats (kubernetes-models), and the
// promises of k8s/README.md: no rights, ports and names that meet, one writer.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { check, checked, finish } from "./report.mjs";

const require = createRequire(import.meta.url);
const here = fileURLToPath(new URL(".", import.meta.url));
const root = join(here, "../..");

// kubernetes-types has one module per group and version.
const typeModules = { v1: "core/v1", "apps/v1": "apps/v1", "networking.k8s.io/v1": "networking/v1" };

for (const folder of ["k8s/base", "k8s/overlays/example"]) {
  const objects = await checked(`${folder} renders`, () => render(folder));
  if (objects) {
    await checked(`${folder} has no unknown field`, () => checkFields(objects));
    for (const object of objects) {
      await checked(`${folder} ${object.kind} ${object.metadata.name} is valid`, () => checkTypes(object));
    }

    checkPromises(folder, objects);
  }
}

check("a misspelt field would be found", misspeltIsFound());
finish();

/** The compiler could be set up so that it finds nothing: it must find this. */
function misspeltIsFound() {
  try {
    checkFields([{ apiVersion: "apps/v1", kind: "StatefulSet", spec: { replica: 1, selector: {}, serviceName: "x", template: {} } }]);
  } catch (e) {
    return /replica.* does not exist/.test(e.message) ? null : e.message;
  }

  return "spec.replica was taken";
}

function render(folder) {
  const text = execFileSync("kubectl", ["kustomize", join(root, folder)], { encoding: "utf8", timeout: 60_000, stdio: ["ignore", "pipe", "pipe"] });
  const objects = parseAllDocuments(text).map((document) => document.toJS());
  if (objects.length === 0) {
    throw new Error("nothing was rendered");
  }

  return objects;
}

/** A literal assigned to its type: TypeScript refuses what the type does not know. */
function checkFields(objects) {
  const lines = objects.map((object, i) => {
    const module = typeModules[object.apiVersion];
    if (!module) {
      throw new Error(`no types known for ${object.apiVersion}; add them to typeModules`);
    }

    return `import type { ${object.kind} as T${i} } from "kubernetes-types/${module}";\nexport const o${i}: T${i} = ${JSON.stringify(object, null, 1)};`;
  });
  const folder = mkdtempSync(join(here, ".types-"));
  try {
    writeFileSync(join(folder, "rendered.ts"), lines.join("\n"));
    const compiler = join(here, "node_modules/.bin/tsc");
    const options = ["--noEmit", "--strict", "--module", "esnext", "--moduleResolution", "bundler", "--types", ""];
    execFileSync(compiler, [...options, join(folder, "rendered.ts")], { encoding: "utf8", timeout: 120_000, stdio: ["ignore", "pipe", "pipe"] });
  } catch (e) {
    throw new Error(e.stdout || e.message);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function checkTypes(object) {
  // kustomize folds long base64 into lines, which the API server takes and the strict format does not.
  if (object.kind === "Secret") {
    object = { ...object, data: Object.fromEntries(Object.entries(object.data).map(([k, v]) => [k, v.replaceAll("\n", "")])) };
  }

  const { [object.kind]: Model } = require(`kubernetes-models/${object.apiVersion}/${object.kind}`);
  new Model(object).validate();
}

function checkPromises(folder, objects) {
  const of = (kind) => objects.filter((o) => o.kind === kind);
  const named = (kind, name) => of(kind).find((o) => o.metadata.name === name);
  const [hub] = of("StatefulSet");
  const pod = hub.spec.template.spec;
  const [container] = pod.containers;
  const promise = (name, holds) => check(`${folder} ${name}`, holds ? null : "does not hold");

  promise("runs one replica", hub.spec.replicas === 1);
  promise("replaces a pod that never becomes ready on a rollback", hub.spec.podManagementPolicy === "Parallel");
  promise("runs as user 1654, never root", pod.securityContext.runAsNonRoot && pod.securityContext.runAsUser === 1654);
  promise("gives no rights", !container.securityContext.allowPrivilegeEscalation && container.securityContext.capabilities.drop.includes("ALL")
    && pod.securityContext.seccompProfile.type === "RuntimeDefault" && pod.automountServiceAccountToken === false);
  promise("has a read-only root and writes to volumes alone", container.securityContext.readOnlyRootFilesystem
    && container.volumeMounts.some((m) => m.mountPath === "/data") && container.volumeMounts.some((m) => m.mountPath === "/tmp"));
  promise("mounts volumes that exist", container.volumeMounts.every((mount) =>
    [...pod.volumes, ...hub.spec.volumeClaimTemplates.map((c) => c.metadata)].some((v) => v.name === mount.name)));

  const ports = new Set(container.ports.map((p) => p.name));
  const probes = [container.startupProbe, container.readinessProbe, container.livenessProbe];
  promise("probes the health paths on a port that is there", probes.every((p) => ports.has((p.httpGet ?? p.tcpSocket).port))
    && container.livenessProbe.httpGet.path === "/healthz" && container.readinessProbe.httpGet.path === "/readyz");
  // Liveness begins only after the startup probe: one that waits for readiness leaves a store that closed itself alone for as long as a start may take.
  promise("starts when the operations listener is open, whatever /readyz says", container.startupProbe.tcpSocket?.port === "operations"
    && !container.startupProbe.httpGet);
  promise("gives a start 30 minutes to read its journal", container.startupProbe.failureThreshold * container.startupProbe.periodSeconds === 1800);
  promise("has Services that find the pod", of("Service").length === 2 && of("Service").every((s) => s.spec.ports.every((p) => ports.has(p.targetPort))
    && Object.entries(s.spec.selector).every(([k, v]) => hub.spec.template.metadata.labels[k] === v)));
  promise("names a Service of its own", named("Service", hub.spec.serviceName)?.spec.clusterIP === "None");
  promise("takes settings that exist", container.envFrom.every((e) =>
    e.configMapRef ? named("ConfigMap", e.configMapRef.name) : named("Secret", e.secretRef.name)));
  promise("mounts secrets that exist", pod.volumes.every((v) => !v.secret || named("Secret", v.secret.secretName)));
  promise("denies all traffic by default", of("NetworkPolicy").some((p) => Object.keys(p.spec.podSelector).length === 0
    && !p.spec.ingress && !p.spec.egress && p.spec.policyTypes.length === 2));
  const operations = of("NetworkPolicy").flatMap((p) => p.spec.ingress ?? []).filter((rule) => rule.ports.some((p) => p.port === "operations"));
  promise("opens operations to a named namespace alone", operations.length === 1 && operations[0].from?.length === 1);
  promise("commits no secret", of("Secret").flatMap((s) => Object.entries(s.data))
    .every(([key, value]) => key.endsWith("__Scopes") || Buffer.from(value, "base64").toString().includes("REPLACE-ME")));
}
