// Checks an evidence pack offline, with Node.js alone: `node verify.mjs [--keys receipt-keys.json] [folder]` in the
// unpacked zip. It trusts nothing but the keys of the log. `ergon evidence verify` runs this file on the zip itself.
// JavaScript, as every pack has a copy of it.
import { createReadStream, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  bytesOf,
  checkManifest,
  jsonOf,
  MANIFEST,
  PackError,
  SIGNATURE,
  textOf,
} from './verify/files.mjs'
import { checkCharges } from './verify/ledger.mjs'
import { createReceipts, readKeys, sha256 } from './verify/log.mjs'
import { createTotals } from './verify/totals.mjs'

export { PackError }

const FILES_MAX = 1_000_000

/** @type {import('./verify.d.mts').verifyPack} */
export async function verifyPack(files, { keys: given, told = () => undefined } = {}) {
  const manifest = sha256(await bytesOf(files, MANIFEST)).toString('hex')
  const own = await textOf(files, 'receipt-keys.json')
  const { receipts, signed, fault } = await readSignature(files, own, given)
  if (signed !== undefined && signed.charge.subject_sha256 !== manifest)
    throw new PackError(MANIFEST, 'its SHA-256 is not the one that the receipt signs')
  const hashes = await checkManifest(files)
  // A changed file of keys is named by the manifest.
  if (fault !== undefined) throw fault
  told('manifest', `${hashes.size} files are as the manifest has them`)
  const summary = await jsonOf(files, 'summary.json')
  checkSubject(signed.charge, summary)
  const { origin, key } = signed
  told('signature', `The manifest is signed by the log ${origin}, key ${key.toString('hex')}`)
  told(
    'keys',
    given === undefined ? KEY_ADVICE : 'The keys are those that you keep, and those that they sign',
  )
  const method = await jsonOf(files, 'method.json')
  const totals = createTotals(method)
  const ledger = await checkCharges(files, { receipts, summary, totals })
  told(
    'receipts',
    `${ledger.receipts} receipts are signed, in the log, without a gap, and add up in themselves`,
  )
  told('edges', ledger.edges)
  told('ledger', `${ledger.entries} postings follow from the receipts and from each other`)
  totals.check(await textOf(files, 'totals.csv'), method, summary)
  told(
    'totals',
    `${totals.all.charges} charges, ${totals.all.energy} nJ, ${totals.all.carbon} pg, ${totals.all.money} pUSD`,
  )
  return {
    pack: summary.pack,
    account: summary.account,
    from: summary.from,
    to: summary.to,
    origin,
  }
}

const KEY_ADVICE =
  'The keys are those of the pack: compare the key above with one that you kept (--keys receipt-keys.json)'

async function readSignature(files, own, given) {
  try {
    const receipts = createReceipts(readKeys(own, given))
    return { receipts, signed: receipts.read(SIGNATURE, await textOf(files, SIGNATURE)) }
  } catch (fault) {
    return { fault }
  }
}

function checkSubject(charge, { account }) {
  if (charge.account !== account)
    throw new PackError(SIGNATURE, `it is of the account ${charge.account}, not ${account}`)
  if (charge.operation !== 'pack.build')
    throw new PackError(SIGNATURE, `it is of ${charge.operation}, and no pack`)
}

/** The files of an unpacked pack. */
function folderFiles(folder) {
  const found = readdirSync(folder, { recursive: true }).map(String)
  const names = found.filter((name) => statSync(join(folder, name)).isFile())
  if (names.length > FILES_MAX) throw new PackError(folder, 'it has too many files')
  return { names, read: async (name) => createReadStream(join(folder, name)) }
}

/** The text of the keys that the caller keeps. */
function keysOf(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new PackError('--keys', `it cannot be read: ${error.message}`)
  }
}

async function main(words) {
  const at = words.indexOf('--keys')
  const [folder = fileURLToPath(new URL('.', import.meta.url))] =
    at < 0 ? words : words.toSpliced(at, 2)
  const print = (line) => process.stdout.write(`${line}\n`)
  const told = (name, detail) => print(`ok   ${name.padEnd(9)} ${detail}`)
  try {
    const given = at < 0 ? {} : { keys: keysOf(words[at + 1] ?? '') }
    const { pack, account, from, to } = await verifyPack(folderFiles(folder), { ...given, told })
    print(`The evidence pack ${pack} of ${account} holds, from ${from} to before ${to}`)
  } catch (error) {
    print(
      `FAIL ${error instanceof PackError ? error.message : `the pack cannot be read: ${error.message}`}`,
    )
    process.exitCode = 6
  }
}

const isProgram = () =>
  process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)

if (isProgram()) await main(process.argv.slice(2))
