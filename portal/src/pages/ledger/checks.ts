// The four checks of a receipt as sentences: who signed, that it is in the log, that it adds up, that none is hidden.
import { rowsFault } from '#tlog/ledger-row.ts'
import type { Checked } from '#console/proof/check-receipt.ts'
import { grouped, NBSP } from '#console/figures/digits.ts'

export type CheckLine = {
  readonly name: 'Signed' | 'In the log' | 'Adds up' | 'Nothing hidden'
  /** `unmade`: a check before it failed, or there was nothing to compare with. */
  readonly state: 'holds' | 'fails' | 'unmade'
  readonly rest: string
}

const WORDS = ['none', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine']
const inWords = (count: number): string => WORDS[count] ?? String(count)

/** The line of each check of the verifier. */
const LINE_OF: Readonly<Record<string, CheckLine['name']>> = {
  format: 'Signed',
  key: 'Signed',
  signature: 'Signed',
  inclusion: 'In the log',
  asked: 'In the log',
  history: 'In the log',
  charge: 'Adds up',
}

export function checkLines(checked: Checked): readonly CheckLine[] {
  const { verdict } = checked
  if (verdict.charge === undefined && verdict.failed === undefined) return unreadLines(verdict)
  const lines: readonly CheckLine[] = [
    { name: 'Signed', state: 'holds', rest: signedBy(checked) },
    inLog(checked),
    {
      name: 'Adds up',
      state: 'holds',
      rest: `: every figure recomputed here, in ${Math.max(1, Math.round(verdict.tookMs))}${NBSP}ms`,
    },
    nothingHidden(checked),
  ]
  const why = verdict.refusedKey ?? verdict.failed?.why
  if (why === undefined) return lines
  const failed = LINE_OF[verdict.failed?.check ?? 'key'] ?? 'Signed'
  const at = lines.findIndex(({ name }) => name === failed)
  return lines.map((line, nth) => {
    if (nth < at) return line
    return nth === at
      ? { name: line.name, state: 'fails', rest: `: ${lowered(why)}` }
      : { name: line.name, state: 'unmade', rest: ': not checked' }
  })
}

/** The key of the log could not be checked: nothing holds, and nothing fails. */
const unreadLines = ({ uncompared = '' }: Checked['verdict']): readonly CheckLine[] => [
  {
    name: 'Signed',
    state: 'unmade',
    rest: `: not checked, because the log could not be read: ${uncompared}. Ask again`,
  },
  ...(['In the log', 'Adds up', 'Nothing hidden'] as const).map((name) => ({
    name,
    state: 'unmade' as const,
    rest: ': not checked',
  })),
]

function signedBy({ signers: { count, threshold, hosts } }: Checked): string {
  const where = hosts === 1 ? 'one host' : `${inWords(hosts)} hosts`
  return ` by ${inWords(threshold)} of ${inWords(count)} signers, on ${where}`
}

function inLog({ verdict, id, rows }: Checked): CheckLine {
  const name = 'In the log'
  const { entry = 0, head, seenSize, steps = 0, charge, leafHash = '', uncompared } = verdict
  const fault = charge && rowsFault(id, rows, { charge, leafHash })
  if (fault !== undefined) return { name, state: 'fails', rest: `: ${lowered(fault)}` }
  const size = grouped(BigInt(head?.size ?? 0))
  const led = `: entry ${grouped(BigInt(entry))} leads to the signed head ${size} in ${steps} steps`
  const seen = seenSize === undefined ? '' : grouped(BigInt(seenSize))
  const missing = [
    ...(uncompared === undefined
      ? []
      : [
          `Not compared with the ${seen} entries seen before, because the log could not be read: ${uncompared}. Ask again`,
        ]),
    ...(rows.length === 0
      ? ['Not compared with the ledger, because your ledger has no row of this id']
      : []),
  ]
  if (missing.length > 0) return { name, state: 'unmade', rest: [led, ...missing].join('. ') }
  const history = seenSize === undefined ? '' : `, of one history with ${seen} seen before`
  return { name, state: 'holds', rest: led + history }
}

function nothingHidden({ verdict: { accountSeq = '0' }, before }: Checked): CheckLine {
  const name = 'Nothing hidden'
  const own = BigInt(accountSeq)
  if (before === 'first') return { name, state: 'holds', rest: ': this is your first charge' }
  const wanted = grouped(own - 1n)
  return before !== undefined && BigInt(before.accountSeq) === own - 1n
    ? { name, state: 'holds', rest: `: your number ${grouped(own)} follows ${wanted}` }
    : { name, state: 'fails', rest: `: your number ${wanted} is missing before ${grouped(own)}` }
}

const lowered = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)
