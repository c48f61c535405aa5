// The books: when they were checked and what was found, the signers, and the backups of databases.
import type { ReplyOf } from '#console/client/operations.ts'
import { Facts } from '#console/parts/page/facts.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { StateWord } from '#console/parts/page/state-word.tsx'
import { Table, type Column } from '#console/parts/page/table.tsx'
import { When } from '#console/parts/time/when.tsx'
import { useBooks } from './use-operator.ts'

type BooksReply = ReplyOf<'GET /v1/operator/books'>
type Props = { readonly books: BooksReply }
/** The books are checked each minute. */
const LATE_S = 300
/** So many of the signers sign. */
const SIGNING = 3

export const Books = () => (
  <Loaded query={useBooks()} what="the state of the books">
    {(books) => (
      <div className="stack wide">
        <Check books={books} />
        <Signers books={books} />
        <Backups books={books} />
      </div>
    )}
  </Loaded>
)

function Check({ books }: Props) {
  const { checked_age_s: ageS, halted_at: haltedAt, faults, charges, sealed, alarms } = books
  return (
    <Section title="Books" aside={<CheckWord books={books} />}>
      {haltedAt !== null && (
        <div className="note bad" role="alert">
          <div>
            <p>
              <b>
                Halted since <When at={haltedAt} isExact />.{' '}
              </b>
              Paid requests answer 503; the free tier goes on.
            </p>
            <ul>
              {faults.map(({ invariant, detail }) => (
                <li key={invariant}>
                  {invariant}: {detail}
                </li>
              ))}
            </ul>
          </div>
        </div>
      )}
      <Facts
        facts={[
          ['Checked', ageS === null ? 'not yet' : `${ageS} s ago`, 'each minute'],
          ['Charges', whole(charges), 'leaves of the public log'],
          ['Signed', whole(sealed), `${BigInt(charges) - BigInt(sealed)} wait for the signers`],
          ['Alarms', alarms, 'that nobody has acknowledged'],
        ]}
      />
    </Section>
  )
}

function CheckWord({ books: { checked_age_s: ageS, halted_at: haltedAt } }: Props) {
  if (haltedAt !== null) return <StateWord tone="bad" word="They do not add up" />
  if (ageS === null) return <StateWord tone="muted" word="Not checked yet" />
  return ageS > LATE_S ? (
    <StateWord tone="warn" word="Not checked for minutes" />
  ) : (
    <StateWord tone="ok" word="Difference 0" />
  )
}

function Signers({ books: { signers } }: Props) {
  const { ready, total, states, looked_at: lookedAt } = signers
  const word =
    ready === null ? (
      <StateWord tone="warn" word="Nobody has looked for minutes" />
    ) : (
      <StateWord
        tone={ready === total ? 'ok' : ready >= SIGNING ? 'warn' : 'bad'}
        word={`${ready} of ${total} ready`}
      />
    )
  return (
    <Section title="Signers" aside={word}>
      <Table rows={Object.entries(states)} keyOf={([number]) => number} columns={SHARES} />
      <p className="small muted">
        {SIGNING} of {total} sign. All run on this host
        {lookedAt !== null && (
          <>
            ; last looked at <When at={lookedAt} />
          </>
        )}
        .
      </p>
    </Section>
  )
}

const SHARES: readonly Column<readonly [number: string, share: string]>[] = [
  { title: 'Signer', cell: ([number]) => `signer-${number}` },
  {
    title: 'Its share of the key',
    cell: ([, share]) => <StateWord tone={share === 'ready' ? 'ok' : 'bad'} word={share} />,
  },
]

function Backups({ books: { backups } }: Props) {
  const { databases, last_done_at: lastAt, waiting, failed } = backups
  return (
    <Section title="Backups of databases">
      <Facts
        facts={[
          ['Databases', databases, 'each is copied nightly'],
          ['Last copy', lastAt === null ? 'none yet' : <When key="last" at={lastAt} />, 'of any'],
          ['Waiting', waiting, 'or being made'],
          ['Failed', failed, 'in seven days'],
        ]}
      />
      <p className="small muted">
        The state and the key shares of the signers have no backup command: stop Ergon and copy the
        data folder, as the operator’s guide says.
      </p>
    </Section>
  )
}

const whole = (text: string): string => BigInt(text).toLocaleString('en')
