import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { createLogger } from '#base/log.ts'
import { cardLine, cardUuid, IDLE_LINE } from './gpu-record.fixture.ts'
import { openNvidiaSmi, type NvidiaSmiOptions } from './nvidia-smi.ts'

const log = createLogger('test', { level: 'error' })
const never = new AbortController().signal

/** A program `nvidia-smi` in a folder that is the whole PATH of its own, beside the shell's. */
function program(t: TestContext, script: string) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-gpu-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'nvidia-smi')
  writeFileSync(file, `#!/bin/sh\ncd ${folder}\necho "$@" > words\n${script}`)
  chmodSync(file, 0o755)
  return { folder, environment: { PATH: `${folder}:/usr/bin:/bin` } }
}

const lines = (...texts: string[]) => texts.map((text) => `echo '${text}'`).join('; ')
const always = (...texts: string[]) => `while :; do ${lines(...texts)}; sleep 0.02; done`

async function open(t: TestContext, script: string, more: Partial<NvidiaSmiOptions> = {}) {
  const { folder, environment } = program(t, script)
  const source = await openNvidiaSmi({ environment, log, restartMs: 20, ...more })
  t.after(() => source.close())
  return { source, folder }
}

test('the cards are read for as long as the source is open', async (t) => {
  const second = cardLine({ index: 1, watts: '30.25', busy: '40' })
  const { source, folder } = await open(t, always(IDLE_LINE, second))
  assert.deepEqual(
    source.cards.map(({ uuid, name, driver }) => [uuid, name, driver]),
    [0, 1].map((index) => [cardUuid(index), 'NVIDIA H200', '580.159.04']),
  )
  await pause(60)
  assert.deepEqual(await source.read(never), { kind: 'power', milliwatts: 108_450n })
  assert.equal(source.ceilingMilliwatts(), 1_680_000n)
  assert.equal(source.errorMilliwatts, 10_000n)
  assert.ok(source.busyNs() > 0n)
  const words = readFileSync(join(folder, 'words'), 'utf8')
  assert.match(words, /--query-gpu=index,uuid,name,driver_version,power.draw.average,/)
  assert.match(words, /--format=csv,noheader,nounits --loop-ms=200/)
})

const REFUSALS: [name: string, script: string, reason: RegExp][] = [
  [
    'cannot talk to its driver',
    `${lines('NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver.')}; exit 9`,
    /could not communicate with the NVIDIA driver/,
  ],
  ['finds no card', `${lines('No devices were found')}; exit 6`, /No devices were found/],
  ['ends without a word', 'exit 3', /ended with code 3/],
  [
    'has a card without a mean power',
    always(cardLine({ watts: '[N/A]' })),
    /NVIDIA H200 gives no power.draw.average/,
  ],
  ['says nothing', 'sleep 60', /no reading of a card in 300 ms/],
  [
    'writes without an end',
    'while :; do printf aaaaaaaaaaaaaaaa; done',
    /more than 4096 characters/,
  ],
]
for (const [name, script, reason] of REFUSALS)
  test(`a program that ${name} is refused at the start, with the reason`, async (t) => {
    const { environment } = program(t, script)
    await assert.rejects(openNvidiaSmi({ environment, log, openTimeoutMs: 300 }), (error) => {
      assert.equal((error as { code?: string }).code, 'gpu_unmetered')
      assert.match((error as Error).message, reason)
      return true
    })
  })

test('a machine without the program is told so', async () => {
  const environment = { PATH: '/nowhere' }
  await assert.rejects(openNvidiaSmi({ environment, log }), /nvidia-smi ENOENT/)
})

test('a start that is given up does not wait for a card', async (t) => {
  const { environment } = program(t, 'sleep 60')
  const abort = new AbortController()
  const opening = openNvidiaSmi({ environment, log, signal: abort.signal })
  abort.abort(new Error('stopping'))
  await assert.rejects(opening, /stopping/)
})

test('a program that ends is started again, and what it said is the reason meanwhile', async (t) => {
  const script = `${lines(IDLE_LINE, IDLE_LINE)}; sleep 0.1
if [ -e again ]; then ${always(cardLine({ watts: '99.00' }))}; fi
touch again; echo 'GPU is lost'; exit 15`
  const { source } = await open(t, script)
  let reading = await source.read(never)
  const seen: string[] = []
  for (let left = 300; left > 0; left--) {
    seen.push(reading.kind === 'power' ? String(reading.milliwatts) : JSON.stringify(reading))
    if (seen.at(-1) === '99000') break
    await pause(10)
    reading = await source.read(never)
  }
  assert.equal(seen.at(-1), '99000')
  assert.ok(
    seen.some((text) => text.includes('GPU is lost')),
    seen.join('\n'),
  )
  // A gap is never a reading of 0.
  assert.ok(!seen.includes('0'))
})

test('close() ends the program', async (t) => {
  const { source, folder } = await open(t, `echo $$ > pid; ${always(IDLE_LINE)}`)
  const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'))
  process.kill(pid, 0)
  await source.close()
  assert.throws(() => process.kill(pid, 0), /ESRCH/)
})
