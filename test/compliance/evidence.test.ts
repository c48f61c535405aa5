// Evidence packs as auditors use them: made and checked by the command line, by openssl and by Node.js. Each change of a
// pack is refused, and each lie in a signed one.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { present } from '#base/errors.ts'
import { nj, printJoules, printUsd, pusd } from '#base/units.ts'
import { chargeBytes, parseCharge } from '#contract/ledger/charge.ts'
import { verifyPack } from '#tlog/evidence/verify.mjs'
import { handoverBody } from '#tlog/handover.ts'
import { parseReceiptKeys, receiptKeysJson } from '#tlog/keys.ts'
import { formatReceipt } from '#tlog/proof.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { openPackOwner, type PackOwner } from './owner.ts'
import {
  filesOf,
  forged,
  forgerKey,
  readPack,
  receiptsIn,
  textIn,
  type PackCopy,
} from './pack-copy.ts'

const run = promisify(execFile)
const CHARGES_LEAST = 100

product(PLAIN)
const folder = mkdtempSync(join(tmpdir(), 'ergon-evidence-'))
const zip = join(folder, 'january.zip')
let owner: PackOwner
let copy: PackCopy
/** The time of the pack. */
let span: { readonly from: string; readonly to: string }
after(() => rmSync(folder, { recursive: true }))

before(async () => {
  owner = await openPackOwner(sharedErgon())
  await owner.spend(CHARGES_LEAST)
})

const cli = (...words: string[]) =>
  sharedErgon().commands.run({
    words,
    env: { HOME: folder, ERGON_TOKEN: owner.token, ERGON_BASE_URL: sharedErgon().baseUrl },
  })

test('evidence create makes a pack of a time and downloads it', async () => {
  const now = new Date()
  const from = new Date(now.getTime() - 3_600_000).toISOString()
  span = { from, to: now.toISOString() }
  const made = await cli('evidence', 'create', '--from', from, '--to', now.toISOString(), '-o', zip)
  assert.equal(made.code, 0, made.stderr)
  assert.match(made.stderr, /It costs 0\.\d+ dollars at most/)
  const id = made.stdout.trim()
  copy = await readPack(readFileSync(zip))
  const summary = JSON.parse(textIn(copy, 'summary.json')) as Record<string, string>
  const [posted] = await sharedErgon().sql(
    'select count(*) from charges where account = $1 and to_at >= $2 and to_at < $3',
    [owner.account, from, now.toISOString()],
  )
  assert.equal(summary['charges'], posted?.['count'])
  assert.equal(summary['account'], owner.account)
  assert.ok(Number(summary['charges']) >= CHARGES_LEAST, summary['charges'])
  const pack = await owner.get(id)
  assert.equal(pack.status, 'ready')
  assert.equal(pack.size_bytes, readFileSync(zip).length)
  assert.ok(BigInt(pack.energy_nj) > 0n)
  assert.ok(BigInt(pack.energy_nj) <= BigInt(pack.ceiling_energy_nj))
  const { stdout } = await cli('evidence', 'list')
  assert.match(stdout, new RegExp(`^${id} .* ready `, 'm'))
})

type Figures = readonly [charges: number, pusd: bigint, nj: bigint]

/** The sums of two columns of whole numbers, by the names in the first line; `kind` leaves its rows alone. */
function sumsOfCsv(
  text: string,
  [money, energy]: readonly [money: string, energy: string],
  kind?: string,
): Figures {
  const [head = [], ...rows] = text
    .trim()
    .split(/\r?\n/)
    .map((line) => line.split(','))
  const at = (row: readonly string[], name: string) => row[head.indexOf(name)] ?? ''
  const taken = rows.filter((row) => kind === undefined || at(row, 'kind') === kind)
  const sum = (name: string) => taken.reduce((all, row) => all + BigInt(at(row, name)), 0n)
  return [taken.length, sum(money), sum(energy)]
}

test('a time has the same charges, pico-dollars and nanojoules in pack, usage, ledger and CSV', async () => {
  const { summary, totals, ledger } = {
    summary: JSON.parse(textIn(copy, 'summary.json')) as Record<string, string>,
    // The names of tokens have commas: the columns of sums follow from the end.
    totals: textIn(copy, 'totals.csv').replaceAll(/"[^"]*(?:""[^"]*)*"/g, ''),
    ledger: textIn(copy, 'ledger.csv'),
  }
  const figures: Figures = [
    Number(summary['charges']),
    BigInt(summary['charge_pusd'] ?? ''),
    BigInt(summary['energy_nj'] ?? ''),
  ]
  const [count, money, energy] = figures
  assert.deepEqual(sumsOfCsv(totals, ['charge_pusd', 'energy_nj']).slice(1), [money, energy])
  const paid: Figures = [count, -money, energy]
  assert.deepEqual(sumsOfCsv(ledger, ['amount_pusd', 'energy_nj'], 'charge'), paid)
  const words = ['--from', span.from, '--to', span.to]
  const csv = await cli('ledger', '--csv', ...words)
  assert.deepEqual(sumsOfCsv(csv.stdout, ['amount_pusd', 'energy_nj'], 'charge'), paid)
  const query = `from=${span.from}&to=${span.to}`
  const page = await owner.call('GET', `/v1/ledger?${query}&kind=charge`)
  const { entries, out_pusd, energy_nj } = page.json['sums'] as Record<string, string>
  assert.deepEqual([Number(entries), BigInt(out_pusd ?? ''), BigInt(energy_nj ?? '')], figures)
  const groups = ['service', 'operation', 'model', 'token', 'resource', 'day']
  for (const group of [...groups, 'service&step=minute', 'service&step=hour']) {
    const used = await owner.call('GET', `/v1/usage?${query}&group_by=${group}&limit=1000`)
    const rows = used.json['data'] as Record<string, string>[]
    const sum = (name: string) => rows.reduce((all, row) => all + BigInt(row[name] ?? ''), 0n)
    const sums = [Number(sum('requests')), sum('charge_pusd'), sum('energy_nj')]
    assert.deepEqual(sums, figures, group)
    assert.equal(String(sum('carbon_pg')), summary['carbon_pg'], group)
  }
  const shown = await cli('usage', ...words)
  const dollars = printUsd(pusd(money))
  const joules = printJoules(nj(energy))
  assert.match(
    shown.stdout,
    new RegExp(`^${count} requests: ${joules} J, [\\d.]+ mg CO2e, ${dollars} tUSD$`, 'm'),
  )
})

/** The shell block of the guide that begins with a word. */
function guideBlock(word: string): string {
  const page = readFileSync(new URL('../../docs/guide/evidence.md', import.meta.url), 'utf8')
  const blocks = [...page.matchAll(/```sh.*\n([^`]*)```/g)].map(([, block = '']) => block)
  return present(
    blocks.find((block) => block.startsWith(word)),
    `the guide has ${word}`,
  )
}

test('the pack holds for openssl, for Node.js and for evidence verify, as the guide says', async () => {
  const keys = join(folder, 'receipt-keys.json')
  const page = await fetch(`${sharedErgon().baseUrl}/.well-known/ergon/receipt-keys.json`)
  writeFileSync(keys, await page.text())
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` }
  const checked = await run('sh', ['-ec', guideBlock('unzip')], { cwd: folder, env })
  assert.match(
    checked.stdout,
    /the manifest is in the log\n[^]*^The evidence pack pack_\w+ of acct_\w+ holds/m,
  )
  const verified = await cli('evidence', 'verify', zip, '--keys', keys)
  assert.equal(verified.code, 0, verified.stdout + verified.stderr)
  // The answers to the command that waited for the pack were charged after its time.
  assert.match(verified.stdout, /edges +The numbers have no gap from before the time to after it/)
  const unpacked = join(folder, 'january')
  const { name, list } = receiptsIn(copy)
  const cut = guideBlock('awk').replace(/receipts\/\S+/, name)
  await run('sh', ['-ec', cut], { cwd: unpacked })
  const seventh = join(unpacked, 'seventh.tlog-proof')
  assert.equal(readFileSync(seventh, 'utf8'), formatReceipt(present(list[6], 'seven receipts')))
  assert.equal((await cli('receipt', 'verify', seventh, '--keys', keys)).code, 0)
  rmSync(seventh)
  const verifier = join(unpacked, 'verify.mjs')
  for (const [words, said] of [
    [['--keys', '/no/keys.json'], 'FAIL --keys: it cannot be read: ENOENT'],
    [['/no/pack'], 'FAIL the pack cannot be read: ENOENT'],
  ] as const)
    await assert.rejects(
      run(process.execPath, [verifier, ...words]),
      (error: { code: number; stdout: string; stderr: string }) =>
        error.code === 6 && error.stdout.startsWith(said) && error.stderr === '',
    )
  for (const file of [...copy.keys()].filter((one) => !one.startsWith('verify'))) {
    const path = join(unpacked, file)
    writeFileSync(path, flipped(readFileSync(path)))
    await assert.rejects(run('sh', [join(unpacked, 'verify.sh'), keys]), file)
    writeFileSync(path, copy.get(file) ?? '')
  }
  const check = (kept: string) => run('sh', [join(unpacked, 'verify.sh'), kept])
  symlinkSync('summary.json', join(unpacked, 'added'))
  await assert.rejects(check(keys))
  rmSync(join(unpacked, 'added'))
  // A kept page with an earlier shard of the same key, and one of another log.
  const older = join(folder, 'older-keys.json')
  const text = readFileSync(keys, 'utf8')
  writeFileSync(older, text.replaceAll(/("ergon-\w+\/)[\d.]+"/g, '$11999"'))
  assert.match((await check(older)).stdout, /the manifest is in the log/)
  writeFileSync(older, text.replaceAll(/ergon-\w+\//g, 'ergon-0000000000000000/'))
  await assert.rejects(check(older), ({ stdout }: { stdout: string }) =>
    stdout.includes('use verify.mjs'),
  )
})

/** The same bytes, with one bit in the middle changed. */
function flipped(bytes: Buffer): Buffer {
  const other = Buffer.from(bytes)
  const at = Math.floor(other.length / 2)
  other[at] = (other[at] ?? 0) ^ 1
  return other
}

test('one changed byte in any file, a missing and an added file are refused by name', async () => {
  for (const [name, bytes] of copy) {
    await refused(
      new Map([...copy, [name, flipped(bytes)]]),
      new RegExp(`^${name.replaceAll('.', '\\.')}: `),
    )
    const without = new Map(copy)
    without.delete(name)
    await refused(without, new RegExp(`^${name.replaceAll('.', '\\.')}: it is missing`))
  }
  await refused(new Map([...copy, ['more.txt', Buffer.from('a')]]), /^more\.txt: it is not in/)
})

type Change = Parameters<typeof forged>[1]

/** The proof with another last hash. */
const otherEnd = (proof: readonly Buffer[]): Buffer[] =>
  proof.map((hash, nth) => (nth === proof.length - 1 ? flipped(hash) : hash))

const refused = (files: PackCopy, why: RegExp) =>
  assert.rejects(verifyPack(filesOf(files)), (error: Error) => {
    assert.match(error.message, why)
    return true
  })

test('a pack that is signed and wrong is refused, by what is wrong', async () => {
  const { name, list } = receiptsIn(copy)
  const write = (files: PackCopy, receipts: typeof list) =>
    files.set(name, Buffer.from(receipts.map(formatReceipt).join('')))
  const edit = (files: PackCopy, file: string, from: string | RegExp, to: string) => {
    const text = textIn(files, file)
    assert.notEqual(text.replace(from, to), text, file)
    files.set(file, Buffer.from(text.replace(from, to)))
  }
  const second = present(list[1], 'the pack has receipts')
  const resealed =
    (change: object): Change =>
    (files, key) => {
      const charge = { ...parseCharge(second.bytes), ...change }
      write(files, list.with(1, key.seal({ ...second, bytes: chargeBytes(charge) })))
    }
  await verifyPack(filesOf(forged(copy, () => undefined)))
  const lies: readonly (readonly [why: RegExp, change: Change])[] = [
    [/^receipts\/.*: one is missing$/, (files) => write(files, list.toSpliced(5, 1))],
    [/^receipts\/.*: the first receipt is/, (files) => write(files, list.slice(1))],
    [/^(receipts|ledger\.csv): /, (files) => write(files, list.slice(0, -2))],
    [/^receipts\/.*: after receipt/, (files) => write(files, list.with(3, second))],
    [/^receipts\/.*: receipt \d+ is of the account acct_2$/, resealed({ account: 'acct_2' })],
    [
      /^receipts\/.*: receipt \d+ is not in the log$/,
      // The upper levels are those of the receipt before: a change there is seen all the same.
      (files) => write(files, list.with(1, { ...second, proof: otherEnd(second.proof) })),
    ],
    [/do not follow from each other$/, resealed({ charge_pusd: '1' })],
    [/do not follow from each other$/, resealed({ carbon_pg: '1' })],
    [/^ledger\.csv: the receipt .* has no line/, resealed({ operation: 'usage.last' })],
    [
      /^ledger\.csv: the balance is not/,
      (files) => edit(files, 'ledger.csv', /,charge,-(?=\d)/, ',charge,-1'),
    ],
    [
      /^totals\.csv: its line \d+ is not: 2026/,
      (files) => edit(files, 'totals.csv', /\d\r\n$/, '\r\n'),
    ],
    [/^totals\.csv: its line 2 is/, (files) => edit(files, 'totals.csv', 'local', 'moon')],
    [
      /^summary\.json: its figures/,
      (files) => edit(files, 'summary.json', '"energy_nj": "', '"energy_nj": "1'),
    ],
    [
      /^summary\.json: its ledger/,
      (files) => edit(files, 'summary.json', '"opening_pusd": "', '"opening_pusd": "1'),
    ],
    [
      /^method\.json: its factors/,
      (files) => edit(files, 'method.json', '"mg_per_kwh": "', '"mg_per_kwh": "1'),
    ],
    [
      /^method\.json: its meters/,
      (files) => edit(files, 'method.json', /"band_pct": "(?=\d)/, '"band_pct": "1'),
    ],
    [
      /^method\.json: its prices/,
      (files) => edit(files, 'method.json', '"pusd_per_j": "', '"pusd_per_j": "1'),
    ],
    [
      /^manifest\.tlog-proof: it is of the account/,
      (files) => edit(files, 'summary.json', owner.account, 'acct_2'),
    ],
  ]
  for (const [why, change] of lies) await refused(forged(copy, change), why)
  // An auditor with kept keys sees that another key signed it, unless a kept key has named that key.
  const keys = textIn(copy, 'receipt-keys.json')
  const other = forged(copy, () => undefined)
  await assert.rejects(verifyPack(filesOf(other), { keys }), /there is no key of the log/)
  const old = forgerKey()
  const kept = { keys: JSON.stringify(receiptKeysJson([old.key, ...parseReceiptKeys(keys)])) }
  const handed = (by: typeof old) =>
    forged(copy, (files, key) => {
      const handover = by.note(handoverBody(old.key.publicKey, key.key.publicKey))
      const page = receiptKeysJson([...parseReceiptKeys(keys), { ...key.key, handover }])
      files.set('receipt-keys.json', Buffer.from(JSON.stringify(page)))
    })
  await verifyPack(filesOf(handed(old)), kept)
  await assert.rejects(verifyPack(filesOf(handed(forgerKey())), kept), /there is no key of the log/)
})
