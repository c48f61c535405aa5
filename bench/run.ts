// npm run bench [-- name …]: measures, prints, and writes bench/RESULTS.md and bench/results.json.
// Ends with 1 when a bar is missed.
import { record, type Section } from './report.ts'

type Bench = () => Promise<Section | undefined>

const BENCHES: Readonly<Record<string, () => Promise<Bench>>> = {
  gateway: async () => (await import('./gateway.ts')).runGateway,
  ledger: async () => (await import('./ledger.ts')).runLedger,
  receipts: async () => (await import('./receipts.ts')).runReceipts,
  engine: async () => (await import('./engine.ts')).runEngine,
  storage: async () => (await import('./storage.ts')).runStorage,
  memory: async () => (await import('./memory.ts')).runMemory,
  windows: async () => (await import('./windows.ts')).runWindows,
  'blob-checks': async () => (await import('./blob-checks.ts')).runBlobChecks,
  start: async () => (await import('./start.ts')).runStart,
}

const names = process.argv.slice(2)
const unknown = names.filter((name) => !(name in BENCHES))
if (unknown.length > 0) {
  const known = Object.keys(BENCHES).join(', ')
  process.stderr.write(`No bench "${unknown.join(' ')}": there are ${known}\n`)
  process.exit(2)
}
let isMet = true
for (const name of names.length > 0 ? names : Object.keys(BENCHES)) {
  const bench = await BENCHES[name]?.()
  if (bench !== undefined) isMet = (await record(bench)) && isMet
}
process.exit(isMet ? 0 : 1)
