// The records that journal-writer.ts writes.
import { createHash } from 'node:crypto'
import type { JournalRecord } from '#charging/journal-record.ts'

export const SESSION = 'gw-1.1'
export const RECORDS = 20

/** About as long as the charge of a chat. */
export const journalRecord = (seq: number): JournalRecord => ({
  seq: BigInt(seq),
  kind: 'charge',
  bytes: Buffer.from(createHash('sha512').update(String(seq)).digest('hex').repeat(6)),
  debits: [{ wallet: 'money:acct_1', amount: BigInt(seq) }],
})
