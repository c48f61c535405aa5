// ergon receipt verify: fetches a receipt by id, or reads a file, and checks it without trusting the
// service: only keys that were pinned.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { nj, pg, printJoules, printMilligrams, printUsd, pusd } from '#base/units.ts'
import type { CarbonFactor, Charge } from '#contract/ledger/charge.ts'
import type { RefusedKey } from '#tlog/links.ts'
import { verifyReceipt, type Verified } from '#tlog/verify.ts'
import { apiGet } from '#cli/client.ts'
import { CommandError, dim, EXIT, green, print, printJson, red, tell } from '#cli/output.ts'
import { keepHead, pinnedKeys, signersOf, type PinnedKeys, type Signers } from '#cli/pinned-keys.ts'
import { knownToken } from '#cli/profile.ts'
import { checkAsked, checkHistory, checkLedger, unread } from '#cli/receipt-checks.ts'
import type { CommandCall } from '#cli/call.ts'

const UNSEALED_TRIES = 20
const UNSEALED_WAIT_MS = 500

export async function run({ options, words: [receipt = ''] }: CommandCall): Promise<void> {
  const isFile = existsSync(receipt)
  const id = isFile ? undefined : idOf(receipt)
  const text = id === undefined ? readFileSync(receipt, 'utf8') : await fetchReceipt(options, id)
  if (typeof options['out'] === 'string') writeFileSync(options['out'], text)
  const keysFile = typeof options['keys'] === 'string' ? options['keys'] : undefined
  const acceptNewKey = options['acceptNewKey'] === true
  const pinned = await pinnedKeys(options, { keysFile, acceptNewKey })
  const held = checkAsked(id, verifyReceipt(text, pinned.keys))
  const row = await checkLedger({ id, text, held }, options)
  const history = await checkHistory(held.checkpoint, pinned, { options, isFile })
  const made = [row, history].filter((each) => each !== undefined)
  const checks = [...held.checks, ...made.map(({ check }) => check)]
  const ends = made.filter(({ end }) => end !== undefined)
  const verified: Verified = { ...held, checks, ok: held.ok && ends.length === 0 }
  const log = held.ok ? undefined : refusedLog(text, pinned)
  const unmade = [
    ...(log?.isUnread === true ? ['key'] : []),
    ...made.filter(({ isMade }) => !isMade).map(({ check }) => check.name),
  ]
  if (options.json) printJson(jsonOf(verified, unmade, pinned))
  else show(verified, unmade, signersOf(pinned, held.checkpoint?.origin ?? ''))
  for (const { origin, why } of pinned.refused) tell(`not pinned: ${origin}: ${why}`)
  const asked = held.checks.find(({ name }) => name === 'asked')
  if (asked?.ok === false) throw new CommandError(asked.detail, EXIT.receipt)
  if (!held.ok || held.checkpoint === undefined) throw notHeld(log)
  // A check that fails counts more than one that could not be made.
  const last = ends.find(({ isMade }) => isMade) ?? ends[0]
  if (last?.end !== undefined) throw last.end
  // A history that could not be compared is not pinned for the next comparison.
  const isKept = history !== undefined || !pinned.heads.has(held.checkpoint.origin)
  if (keysFile === undefined && isKept) keepHead(pinned, held.checkpoint)
}

/** The log of a receipt, where the service publishes the log and no pinned log vouches for it. */
const refusedLog = (text: string, { refused }: PinnedKeys): RefusedKey | undefined =>
  refused.find(({ origin }) => text.includes(`\n${origin}\n`) || text.includes(`"${origin}\\n`))

/** A log of another key, or beside the one that is pinned, may be a log all the same: the caller decides. */
function notHeld(log: RefusedKey | undefined): CommandError {
  if (log === undefined) return new CommandError('The receipt does not hold', EXIT.receipt)
  const { origin, why, isNewKey, isUnread } = log
  if (isUnread) return unread(`Could not check the key of the log ${origin}: ${why}`, 'the log')
  return new CommandError(
    `The receipt is of a log that is not pinned: ${origin}: ${why}`,
    EXIT.receipt,
    isNewKey
      ? 'ask the operator, by another way than this service, whether that key is theirs; then --accept-new-key'
      : undefined,
  )
}

/** An argument that is neither a file nor an identifier is a mistyped file name: the service is not called. */
function idOf(receipt: string): string {
  if (/^(rcpt|req)_\w+$/.test(receipt)) return receipt
  throw new CommandError(
    `There is no such file, and it is no id of a receipt: ${receipt}`,
    EXIT.failed,
    'a file that --out wrote, or an id that begins with rcpt_ or req_',
  )
}

async function fetchReceipt(options: CommandCall['options'], id: string): Promise<string> {
  for (let attempt = 0; attempt < UNSEALED_TRIES; attempt++) {
    const answer = await apiGet(options, `/v1/receipts/${encodeURIComponent(id)}`, {
      accept: 'text/plain',
      // Usage that nobody was charged for is public; for all other usage the service answers that a token is missing.
      public: knownToken(options) === undefined,
    })
    if (answer.status === 200) return answer.text
    if (attempt === 0) tell('not sealed yet; waiting …')
    await pause(UNSEALED_WAIT_MS)
  }
  throw new CommandError(
    `The receipt ${id} is not sealed yet`,
    EXIT.failed,
    'try again; `ergon status` says why',
  )
}

function show(verified: Verified, unmade: readonly string[], signers: Signers | undefined): void {
  for (const { name, ok, detail } of verified.checks) {
    const mark = ok ? green('ok  ') : unmade.includes(name) ? dim('--  ') : red('FAIL')
    print(`${mark} ${name.padEnd(9)} ${detail}`)
  }
  if (verified.charge === undefined) return
  showCharge(verified.charge, signers)
  const { accountSeq, checkpoint } = verified
  print(
    `     ${'number'.padEnd(9)} ${accountSeq} of its account, as counted in ${checkpoint?.origin}`,
  )
}

function showCharge(charge: Charge, signers: Signers | undefined): void {
  const elsewhere = charge.parts.flatMap(({ meter, factor }) =>
    factor === undefined ? [] : [`${meter}: ${factorText(factor)}`],
  )
  const parts = charge.parts
    .map(
      (part) =>
        `${part.meter}${part.idle === true ? ', idle' : ''}: ${printJoules(nj(BigInt(part.energy_nj)))} J by ${part.method}, ±${part.band_pct} %`,
    )
    .join('; ')
  const rows: readonly (readonly [string, string])[] = [
    ['receipt', charge.id],
    ['request', requestText(charge)],
    ...(charge.resource === undefined ? [] : [['resource', resourceText(charge)] as const]),
    ['operation', `${charge.operation}, status ${charge.status}, tier ${charge.tier}`],
    ['served by', `${charge.model === undefined ? '' : `${charge.model} at `}${charge.routed_to}`],
    [
      'energy',
      `${printJoules(nj(BigInt(charge.energy_nj)))} J (${parts}; PUE ${Number(charge.pue_milli) / 1000})`,
    ],
    [
      'carbon',
      `${printMilligrams(pg(BigInt(charge.carbon_pg)))} mg at ${[factorText(charge.factor), ...elsewhere].join('; ')}`,
    ],
    [
      'price',
      `${charge.free ? 'free tier' : `${printUsd(pusd(BigInt(charge.charge_pusd)))} ${charge.unit}`} at ${charge.pusd_per_j} pUSD/J`,
    ],
    ['when', `${charge.from} to ${charge.to}`],
    ['signed by', signersText(signers)],
  ]
  for (const [name, value] of rows) print(`     ${name.padEnd(9)} ${value}`)
}

const resourceText = ({ resource = '', cell }: Charge): string =>
  cell === undefined ? resource : `${resource}, cell ${cell}`

const requestText = ({ request, requests }: Charge): string =>
  requests === undefined ? request : `${request}, the first of ${requests} that share this receipt`

const factorText = ({ mg_per_kwh, zone, source, year, basis }: CarbonFactor): string =>
  `${Number(mg_per_kwh) / 1000} g/kWh (${zone}, ${source} ${year}, ${basis})`

const signersText = (signers: Signers | undefined): string => {
  if (signers === undefined) return 'any 3 of the signers of the log (threshold Ed25519, RFC 9591)'
  const { count, threshold, hosts } = signers
  return `any ${threshold} of ${count} signers on ${hosts} host${hosts === 1 ? '' : 's'} (threshold Ed25519, RFC 9591)`
}

const jsonOf = (verified: Verified, unmade: readonly string[], { refused }: PinnedKeys) => ({
  ok: verified.ok,
  checks: verified.checks,
  not_checked: unmade,
  charge: verified.charge,
  account_seq: verified.accountSeq?.toString(),
  index: verified.index,
  origin: verified.checkpoint?.origin,
  not_pinned: refused.map(({ origin, why }) => ({ origin, why })),
})
