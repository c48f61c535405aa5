// npm run bench [-- name …]: measures, prints, and writes bench/RESULTS.md and bench/results.json.
// Ends with 1 when a bar is missed. `--quick` prints a short run, whose figures are worth nothing, and writes nothing.
import { print, record, type Section } from './report.ts'

type Bench = (isQuick?: boolean) => Promise<Section | undefined>

const BENCHES: Readonly<Record<string, () => Promise<Bench>>> = {
  gateway: async () => (await import('./gateway.ts')).runGateway,
  heap: async () => (await import('./heap.ts')).runHeap,
  ledger: async () => (await import('./ledger.ts')).runLedger,
  'ledger-pages': async () => (await import('./ledger-pages.ts')).runLedgerPages,
  'ledger-bundles': async () => (await import('./ledger-bundles.ts')).runLedgerBundles,
  receipts: async () => (await import('./receipts.ts')).runReceipts,
  engine: async () => (await import('./engine.ts')).runEngine,
  databases: async () => (await import('./databases.ts')).runDatabases,
  storage: async () => (await import('./storage.ts')).runStorage,
  webhooks: async () => (await import('./webhooks.ts')).runWebhooks,
  ingress: async () => (await import('./ingress.ts')).runIngress,
  functions: async () => (await import('./functions.ts')).runFunctions,
  live: async () => (await import('./live.ts')).runLive,
  console: async () => (await import('./console.ts')).runConsole,
  memory: async () => (await import('./memory.ts')).runMemory,
  windows: async () => (await import('./windows.ts')).runWindows,
  'blob-checks': async () => (await import('./blob-checks.ts')).runBlobChecks,
  'unsent-replies': async () => (await import('./unsent-replies.ts')).runUnsentReplies,
  start: async () => (await import('./start.ts')).runStart,
}

const QUICK = '--quick'
/** Benches that have a short run. */
const QUICK_ONES = [
  'gateway',
  'databases',
  'webhooks',
  'ledger-pages',
  'ledger-bundles',
  'live',
  'console',
  'ingress',
  'functions',
]

const isQuick = process.argv.includes(QUICK)
const names = process.argv.slice(2).filter((word) => word !== QUICK)
const unknown = names.filter((name) => !(name in BENCHES))
if (unknown.length > 0) {
  const known = Object.keys(BENCHES).join(', ')
  process.stderr.write(`No bench "${unknown.join(' ')}": there are ${known}\n`)
  process.exit(2)
}
if (isQuick && (names.length === 0 || names.some((name) => !QUICK_ONES.includes(name)))) {
  process.stderr.write(`${QUICK} is for ${QUICK_ONES.join(', ')}\n`)
  process.exit(2)
}
let isMet = true
for (const name of names.length > 0 ? names : Object.keys(BENCHES)) {
  const bench = await BENCHES[name]?.()
  if (bench === undefined) continue
  if (isQuick) await print(() => bench(isQuick))
  else isMet = (await record(bench)) && isMet
}
process.exit(isMet ? 0 : 1)
