// A process that journals charges and says on stdout what it has told: a number for each record whose
// figures may leave, `posted n` for what the ledger has. Small segments, so that they turn and go.
import { writeSync } from 'node:fs'
import { systemClock } from '#base/clock.ts'
import { createDisk } from '#charging/disk.ts'
import { Journal } from '#charging/journal.ts'
import { journalRecord, RECORDS, SESSION } from './journal-records.ts'

const SEGMENT_BYTES = 4096
const SYNC_EVERY = 4
const POST_EVERY = 6
const STDOUT = 1

const journal = new Journal({
  disk: createDisk(process.argv[2] ?? ''),
  session: SESSION,
  clock: systemClock,
  failed: () => process.exit(74),
  segmentBytes: SEGMENT_BYTES,
})
for (let seq = 1; seq <= RECORDS; seq++) {
  journal.append(journalRecord(seq))
  await new Promise<void>((resolve) => journal.recorded(() => resolve()))
  writeSync(STDOUT, `${seq}\n`)
  if (seq % POST_EVERY === 0) {
    writeSync(STDOUT, `posted ${seq - 1}\n`)
    journal.posted(BigInt(seq - 1))
  }
  if (seq % SYNC_EVERY === 0) await journal.synced()
}
await journal[Symbol.asyncDispose]()
