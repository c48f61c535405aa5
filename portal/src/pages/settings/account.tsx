// The account: below which balance it warns, and its export.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { changed, read } from '#console/client/queries.ts'
import { withTouch } from '#console/client/touch.ts'
import { balanceShort } from '#console/figures/money.ts'
import { Field } from '#console/parts/forms/field.tsx'
import { Form } from '#console/parts/forms/form.tsx'
import { Loaded, ProblemNote } from '#console/parts/page/loaded.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { useAction } from '#console/parts/forms/use-action.ts'

export function Account() {
  const query = useQuery(read('GET /v1/account', {}))
  return (
    <Section title="Account">
      <Loaded query={query} what="the account">
        {({ id, low_water_pusd, unit }) => (
          <div className="stack">
            <dl className="pairs">
              <dt>Id</dt>
              <dd className="id">{id}</dd>
              <dt>Everything of it</dt>
              <dd>
                <a href="/v1/account/export" download="account.ndjson">
                  Download the account
                </a>
                , a record a line
              </dd>
            </dl>
            <LowWater now={balanceShort(BigInt(low_water_pusd), unit)} />
          </div>
        )}
      </Loaded>
    </Section>
  )
}

function LowWater({ now }: { readonly now: string }) {
  const [mark, setMark] = useState('')
  const action = useAction(async () => {
    await withTouch(() => call('PATCH /v1/account', { body: { low_water: mark.trim() } }))
    await changed('GET /v1/account')
    setMark('')
  })
  return (
    <Form className="settings-row" action={action}>
      <Field
        label={`Low balance, now ${now}`}
        name="low_water"
        required
        inputMode="decimal"
        placeholder="2.50"
        hint="Below it webhooks get balance.low."
        value={mark}
        onChange={({ target }) => setMark(target.value)}
      />
      <div className="labelled">
        <span className="label" aria-hidden="true">
          {'\u00a0'}
        </span>
        <button type="submit" className="btn" disabled={action.isBusy}>
          Set it
        </button>
      </div>
      {action.error !== undefined && <ProblemNote error={action.error} />}
    </Form>
  )
}
