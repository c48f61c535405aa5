// The operator's view of signers that lost their shares, and the one way on without them.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { startErgon, type Ergon } from '../start-ergon.ts'

let ergon: Ergon
before(async () => {
  ergon = await startErgon()
})
after(async () => {
  await ergon?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const folder = mkdtempSync(join(tmpdir(), 'ergon-snapshot-'))
const snapshot = join(folder, 'data')
/** The pinned keys of these tests' command line. */
const pinsOf = () => join(ergon.dataFolder, 'cli-config/ergon/receipt-keys.json')

const get = (path: string) =>
  fetch(`${ergon.baseUrl}${path}`, { headers: { authorization: `Bearer ${ergon.token}` } })

/** A charge, and its receipt's id. */
const charge = async () => (await get('/v1/models')).headers.get('x-receipt-id') ?? ''

/** The file of a receipt, once it is sealed. */
async function sealed(id: string): Promise<string> {
  const file = join(ergon.dataFolder, `${id}.tlog-proof`)
  for (;;) {
    const answer = await get(`/v1/receipts/${id}`)
    const text = await answer.text()
    if (answer.status === 200) {
      writeFileSync(file, text)
      return file
    }
    assert.equal(answer.status, 202, text)
    await pause(100)
  }
}

const originIn = (file: string) => /^ergon-[0-9a-f]{16}\/.*$/m.exec(readFileSync(file, 'utf8'))?.[0]

async function statusSays(text: RegExp): Promise<void> {
  // The signers are checked each 5 s, and a change counts when two checks saw it.
  while (!text.test((await ergon.cli('status')).stdout)) await pause(500)
}

test('lost shares are seen, no key is made by itself, and the operator makes one', async () => {
  const first = await sealed(await charge())
  assert.equal((await ergon.cli('receipt', 'verify', first)).code, 0, 'pins the key')
  const tooEarly = await ergon.cli('signers', 'new-key')
  assert.equal(tooEarly.code, 1)
  assert.match(tooEarly.stderr, /5 signers have their share: none is lost/)
  assert.equal(existsSync(join(ergon.dataFolder, 'signers/1/share.json')), true)

  await ergon.kill()
  rmSync(join(ergon.dataFolder, 'signers/2'), { recursive: true })
  await ergon.resume()
  await statusSays(/^signers {2}4 of 5 have their share; signer-2: no share/m)
  const named = await ergon.cli('signers', 'new-key', '--json')
  assert.equal(named.code, 0, named.stderr)
  const renewed = JSON.parse(named.stdout) as Record<string, string>
  assert.equal(renewed['before'], originIn(first))
  assert.match(renewed['handover'] ?? '', /^ergon-[0-9a-f]{16}\/next-key\n/)
  await statusSays(/^signers {2}5 of 5 have their share$/m)
  const next = await sealed(await charge())
  assert.equal(originIn(next), renewed['origin'])
  assert.notEqual(renewed['origin']?.split('/')[0], renewed['before']?.split('/')[0])
  const taken = await ergon.cli('receipt', 'verify', next)
  assert.equal(taken.code, 0, taken.stdout + taken.stderr)
  assert.match(taken.stderr, /pinned as it follows a pinned log/)

  await ergon.kill()
  execFileSync('cp', ['-a', ergon.dataFolder, snapshot])
  for (const lost of [1, 2, 3])
    rmSync(join(ergon.dataFolder, 'signers', String(lost)), { recursive: true })
  await ergon.resume()
  await statusSays(/^signers {2}2 of 5 have their share; signer-1: no share; signer-2: no share/m)
  while (!/receipts: signer 1 has no share, signer 2.*signer 3/.test(ergon.stderr()))
    await pause(100)
  const waiting = await charge()
  await statusSays(/^receipts [1-9]\d* sealed of \d+: 2 signers with a share answer, 3 are needed/m)
  assert.equal((await get(`/v1/receipts/${waiting}`)).status, 202)

  const made = await ergon.cli('signers', 'new-key', '--json')
  assert.equal(made.code, 0, made.stderr)
  const { origin, before, aside } = JSON.parse(made.stdout) as Record<string, string>
  assert.equal(before, originIn(next))
  assert.ok(existsSync(join(aside ?? '', '4/share.json')), 'what was left is kept')
  const second = await sealed(waiting)
  assert.equal(originIn(second), origin)
  assert.notEqual(origin?.split('/')[0], before?.split('/')[0])
  await statusSays(/^signers {2}5 of 5 have their share$/m)
  const page = join(ergon.dataFolder, 'keys.json')
  writeFileSync(page, await (await get('/.well-known/ergon/receipt-keys.json')).text())
  for (const receipt of [first, next, second]) {
    const verified = await ergon.cli('receipt', 'verify', receipt, '--keys', page)
    assert.equal(verified.code, 0, verified.stdout)
  }
  const old = await ergon.cli('receipt', 'verify', first)
  assert.equal(old.code, 0, old.stdout)
  assert.match(old.stderr, /not pinned: .*another key signs it/)
  const unknown = await ergon.cli('receipt', 'verify', second)
  assert.equal(unknown.code, 6, unknown.stdout)
  assert.match(unknown.stderr, /not pinned: .*another key signs it.*\n.*--accept-new-key/)
  const accepted = await ergon.cli('receipt', 'verify', second, '--accept-new-key')
  assert.equal(accepted.code, 0, accepted.stdout + accepted.stderr)
  assert.match(accepted.stderr, /pinned as it follows a pinned log/)
  assert.equal((await ergon.cli('receipt', 'verify', second)).code, 0)
  // A client that saw another head of that size has proof of two histories.
  const kept = JSON.parse(readFileSync(pinsOf(), 'utf8')) as { heads: { root: string }[] }
  assert.equal(kept.heads.length, 3)
  const root = Buffer.alloc(32).toString('base64')
  writeFileSync(
    pinsOf(),
    JSON.stringify({ ...kept, heads: kept.heads.map((head) => ({ ...head, root })) }),
  )
  const forked = await ergon.cli('receipt', 'verify', second)
  assert.equal(forked.code, 6, forked.stdout)
  assert.match(forked.stderr, /two histories/)
})

test('a snapshot of everything that is put back shows to whoever saw what came after it', async () => {
  await ergon.kill()
  const putBack = () => {
    rmSync(ergon.dataFolder, { recursive: true })
    execFileSync('cp', ['-a', snapshot, ergon.dataFolder])
  }
  putBack()
  await ergon.resume()
  const lost = await sealed(await charge())
  const seen = await ergon.cli('receipt', 'verify', lost)
  assert.equal(seen.code, 0, seen.stdout + seen.stderr)
  const [text, kept] = [readFileSync(lost, 'utf8'), readFileSync(pinsOf(), 'utf8')]
  await ergon.kill()
  putBack()
  writeFileSync(pinsOf(), kept)
  await ergon.resume()
  const newest = await sealed(await charge())
  const grown = await ergon.cli('receipt', 'verify', newest)
  assert.equal(grown.code, 6, grown.stdout + grown.stderr)
  assert.match(grown.stderr, /two histories|Could not check whether the \d+ leaves/)
  writeFileSync(lost, text)
  const gone = await ergon.cli('receipt', 'verify', lost)
  assert.equal(gone.code, 0, 'the head that was seen is what it was')
})
