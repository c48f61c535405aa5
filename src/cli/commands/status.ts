// ergon status: processes, sessions and the ledger of the node on this machine, or the parts of a service elsewhere.
import { nj, printJoules } from '#base/units.ts'
import { ApiRefusal, apiGet, control, replyOf } from '#cli/client.ts'
import { print, printJson, table } from '#cli/output.ts'
import { baseUrlOf, isOwnNode, type GlobalOptions } from '#cli/profile.ts'
import type { CommandCall } from '#cli/call.ts'
import type { ControlAnswer } from '#contract/control.ts'
import type { probeReply, ProbeReply } from '#contract/status/probe.ts'

type NodeStatus = ControlAnswer<'node.status'>
type ShownHolder = NonNullable<NodeStatus['state_holder']>
type BooksStatus = NonNullable<NodeStatus['books']>
type ShownLedger = NonNullable<NodeStatus['ledger']>

export const run = ({ options }: CommandCall): Promise<void> =>
  isOwnNode(options) ? showNode(options) : showService(options)

async function showNode(options: GlobalOptions): Promise<void> {
  const status = await control(options, 'node.status', {})
  if (options.json) return printJson(status)
  const { isolation, sessions, ledger, receipts } = status
  print(
    `isolation ${isolation.level}, meter ${isolation.meter}, memory limit ${isolation.memoryLimit}`,
  )
  for (const reason of isolation.reasons) print(`  ${reason}`)
  print(
    table(
      ['CELL', 'STATE', 'PID', 'CPU s', 'RESTARTS'],
      status.cells.map((cell) => [
        cell.name,
        cell.state,
        String(cell.pid ?? ''),
        (Number(cell.cpu_ns) / 1e9).toFixed(2),
        String(cell.restarts),
      ]),
    ),
  )
  if (sessions === null || ledger === null)
    return print(`state    does not answer: ${status.state}`)
  if (status.state_holder) print(holderLine(status.state_holder))
  print(
    `sessions ${sessions.map((session) => `${session.id}${session.fresh ? '' : ' (silent)'}`).join(', ')}`,
  )
  print(chargedLine(ledger.charged))
  print(`ledger   ${ledger.charges} charges${bundledWords(ledger)}, ${alarmsWord(ledger.alarms)}`)
  for (const { kind, detail, at } of status.last_alarms ?? [])
    print(`  ${at} ${kind} ${JSON.stringify(detail)}`)
  if (status.books !== undefined) print(booksLine(status.books))
  print(receiptsLine(ledger, receipts?.reason))
  print(signersLine(receipts?.signers))
}

/** The public figures of a service: its readiness, and the last probe of each part. No token is sent. */
async function showService(options: GlobalOptions): Promise<void> {
  const address = baseUrlOf(options)
  const unready = await whyUnready(options)
  const probe = await readProbe(options)
  if (options.json) return printJson({ address, ready: unready === null, reason: unready, probe })
  print(`service  ${address}: ${unready === null ? 'ready' : `not ready: ${unready}`}`)
  if (probe === null) return print('probe    does not answer')
  print(
    table(
      ['PART', 'STATE', 'PROBED', 'REASON'],
      probe.components.map(({ id, state, at, reason }) => [id, state, at ?? '-', reason ?? '']),
    ),
  )
  print(`probe    ${probe.every_seconds === 0 ? 'off' : `each ${probe.every_seconds} s`}`)
}

/** The service's reason to refuse requests now, or null where the service is ready. */
async function whyUnready(options: GlobalOptions): Promise<string | null> {
  const ready = apiGet(options, '/readyz', { public: true })
  return await ready.then(() => null, failureText)
}

/** The last probe of each part, or null where the service fails to read the results. */
async function readProbe(options: GlobalOptions): Promise<ProbeReply | null> {
  const probe = apiGet(options, '/v1/probe', { public: true })
  return await probe.then(replyOf<typeof probeReply>, (error: unknown) => {
    failureText(error)
    return null
  })
}

/** The message of a failure of the service; throws every other error. */
function failureText(error: unknown): string {
  if (error instanceof ApiRefusal && error.status >= 500) return error.message
  throw error
}

const holderLine = ({ host, folder, since, backend }: ShownHolder) =>
  `state    of the node on ${host} in ${folder}, since ${since}${backend === null ? '; its lock is not held now' : ''}`

/** Nothing before the first bundle. */
const bundledWords = ({ bundled_charges: charges, bundled_bytes: bytes }: ShownLedger) =>
  charges === '0' ? '' : `, ${charges} of them bundled in ${(Number(bytes) / 1e6).toFixed(1)} MB`

/** The sums of all accounts, and what no account pays. */
export const chargedLine = (charged: ShownLedger['charged']) =>
  charged === null ? 'charged  unknown: the sums take too long' : sumsLine(charged)
const sumsLine = ({ day, all, nobody }: NonNullable<ShownLedger['charged']>) =>
  `charged  ${joules(day)} today, ${joules(all)} in all, and ${joules(nobody)} to nobody`
const joules = ({ energy_nj: energy }: { readonly energy_nj: string }) =>
  `${printJoules(nj(BigInt(energy)))} J`

const alarmsWord = (alarms: string) =>
  alarms === '0' ? '0 alarms' : `${alarms} alarms, see ergon admin alarm list`

const receiptsLine = ({ sealed, leaves }: { sealed: string; leaves: string }, reason?: string) =>
  `receipts ${sealed} sealed of ${leaves}${reason === undefined ? '' : `: ${reason}`}`

/** The number of signers that can sign, and the fault of each other signer. */
function signersLine(signers: readonly { index: number; share: string }[] | undefined): string {
  if (signers === undefined) return 'signers  unknown: jobs does not answer'
  const others = signers
    .filter(({ share }) => share !== 'ready')
    .map(({ index, share }) => `signer-${index}: ${WORDS[share] ?? share}`)
  return `signers  ${signers.length - others.length} of ${signers.length} have their share${others.map((text) => `; ${text}`).join('')}`
}
const WORDS: Readonly<Record<string, string>> = {
  none: 'no share',
  'other key': 'a share of another key',
  'false share': 'caught with a false share',
  unfinished: 'its share is not finished',
  silent: 'does not answer',
}

/** The time of the last check of the books, and the fault that stops paid requests. */
export function booksLine(books: BooksStatus): string {
  const { checked_age_s: ageS, halted_at: haltedAt, faults } = books
  const checked = ageS === null ? 'not checked yet' : `checked ${ageS} s ago`
  if (haltedAt === null) return `books    ${checked}`
  const why = faults.map(({ invariant, detail }) => `${invariant} (${detail})`).join('; ')
  return `books    halted since ${haltedAt}: ${why}; ${checked}`
}
