// When a server is said not to start, and the words for it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Exit } from '#cells/cell.ts'
import { artifactFault } from '#artifacts/faults.ts'
import { postgresFault } from '#postgres/faults.ts'
import { fault } from '#contract/errors.ts'
import { failureBefore, watchStart, type StartFailure } from './failing-start.ts'

const FOLDER = '/data/databases/db_1'
const EXIT: Exit = { code: 1, signal: null, at: 0 }
const line = (text: string) => `2026-11-27 10:00:00.000 UTC [7] ${text}`
const CONTROL = line(
  `FATAL:  could not open file "${FOLDER}/data/global/pg_control": No such file or directory`,
)

/** The failure behind lives that ended so. */
async function failureOf(lastLines: readonly string[], exit: Exit = EXIT): Promise<StartFailure> {
  const watch = watchStart(FOLDER)
  for (let nth = 0; nth < 3; nth++) watch.ended(exit, { hasAnswered: false, lastLines })
  return await watch.failed.catch((error: unknown) => error as StartFailure)
}

test('the third life in a row without an answer is a failure, and an answer begins the count anew', async () => {
  const watch = watchStart(FOLDER)
  const isFailed = () => Promise.race([watch.failed.catch(() => true), pause(0).then(() => false)])
  const end = (hasAnswered: boolean) => watch.ended(EXIT, { hasAnswered, lastLines: [CONTROL] })
  end(false)
  end(false)
  end(true)
  end(false)
  end(false)
  assert.equal(await isFailed(), false)
  end(false)
  assert.equal(await isFailed(), true)
})

test('a life that was ended as silent is a failure by itself, also behind one that answered', async () => {
  const watch = watchStart(FOLDER)
  watch.ended(EXIT, { hasAnswered: true, lastLines: [] })
  watch.ended({ ...EXIT, silent: true }, { hasAnswered: false, lastLines: [CONTROL] })
  await assert.rejects(watch.failed, { words: 'it does not answer within 55 s' })
})

test('the account reads what PostgreSQL said without paths of the node, and the operator all of it', async () => {
  const { words, log } = await failureOf([CONTROL])
  assert.equal(words, 'could not open file "global/pg_control": No such file or directory')
  assert.match(log, /"\/data\/databases\/db_1\/data\/global\/pg_control".*\(it ended with code 1\)/)
  const other = await failureOf([line('FATAL:  could not read "/etc/secret/key"')])
  assert.equal(other.words, 'could not read "…"')
  const full = await failureOf([line('FATAL:  could not write lock file: No space left on device')])
  assert.equal(full.words, 'the disk of the service is full')
})

test('neither statements of customers nor words to early clients are the reason', async () => {
  const panic = line('PANIC:  could not locate a valid checkpoint record')
  const { words, log } = await failureOf([
    panic,
    line("STATEMENT:  alter role a password 'hunter2'"),
    line('FATAL:  the database system is starting up'),
  ])
  assert.equal(words, 'could not locate a valid checkpoint record')
  assert.doesNotMatch(log, /hunter2/)
  const early = await failureOf([line('FATAL:  the database system is starting up')])
  assert.equal(early.words, 'it ended with code 1')
})

test('a server without words fails by how it ended', async () => {
  assert.equal((await failureOf([])).words, 'it ended with code 1')
  const killed = { code: null, signal: 'SIGKILL', at: 0 } as const
  assert.equal((await failureOf([], killed)).words, 'it ended by SIGKILL')
  const greedy = { ...killed, outOfMemory: true } as const
  assert.equal((await failureOf([], greedy)).words, 'it takes more memory than it may have')
  const none = await failureOf(['start: 1: exec: /data/postgres/bin/postgres: not found'], {
    ...EXIT,
    code: 127,
  })
  assert.equal(none.words, 'the service has no PostgreSQL that it can run')
  assert.match(none.log, /bin\/postgres: not found/)
})

test('an error before the start is a failure where it is the fault of the service', () => {
  const wordsOf = (error: unknown) => failureBefore(error)?.words
  const full = artifactFault('storage_full', 'Could not make a cluster in /data: the disk is full')
  assert.equal(wordsOf(full), 'the disk of the service is full')
  assert.equal(
    wordsOf(Object.assign(new Error('a'), { code: 'ENOSPC' })),
    'the disk of the service is full',
  )
  assert.match(wordsOf(postgresFault('postgres_missing', 'none')) ?? '', /no PostgreSQL/)
  assert.equal(wordsOf(fault('balance_depleted', 'none')), undefined)
  assert.equal(wordsOf(new Error('a fault of ours')), undefined)
  // The account does not want it any more, or the node stops.
  assert.equal(wordsOf(artifactFault('artifact_interrupted', 'stopped')), undefined)
  // The error of a server that runs.
  assert.match(wordsOf(Object.assign(new Error('a'), { code: '53100' })) ?? '', /disk/)
})
