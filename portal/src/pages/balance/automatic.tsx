// The rule of automatic top-ups: what it does, its change, and its end.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { changed, read } from '#console/client/queries.ts'
import { withTouch } from '#console/client/touch.ts'
import { balanceShort } from '#console/figures/money.ts'
import { Confirm } from '#console/parts/forms/confirm.tsx'
import { Field } from '#console/parts/forms/field.tsx'
import { FormDialog } from '#console/parts/forms/form-dialog.tsx'
import { Section } from '#console/parts/page/section.tsx'
import type { Balance } from './left.tsx'

type Asked = { readonly amount: string; readonly below: string; readonly month_max: string }
type Props = { readonly balance: Balance; readonly onClose: () => void }

const FIRST: Asked = { amount: '20.00', below: '5.00', month_max: '100.00' }

/** Nothing where no card can be charged: the rule would be refused. */
export function AutomaticTopUps({ balance }: { readonly balance: Balance }) {
  const methods = useQuery(read('GET /v1/payment-methods', {}))
  if (balance.auto_topup === null && methods.data?.takes_cards !== true) return null
  return (
    <Section title="Automatic top-ups">
      <Automatic balance={balance} />
    </Section>
  )
}

function Automatic({ balance }: { readonly balance: Balance }) {
  const [doing, setDoing] = useState<'change' | 'stop'>()
  const { auto_topup: rule } = balance
  const stop = () => setDoing(undefined)
  return (
    <div className="stack">
      {rule === null ? (
        <p className="small">None: the balance is topped up by hand alone.</p>
      ) : (
        <Rule rule={rule} unit={balance.unit} />
      )}
      <div className="tools">
        <button type="button" className="btn small" onClick={() => setDoing('change')}>
          {rule === null ? 'Top up automatically' : 'Change'}
        </button>
        {rule !== null && (
          <button type="button" className="btn small" onClick={() => setDoing('stop')}>
            Stop
          </button>
        )}
      </div>
      {doing === 'change' && <ChangeRule balance={balance} onClose={stop} />}
      {doing === 'stop' && (
        <Confirm
          title="Stop automatic top-ups"
          verb="Stop them"
          onClose={stop}
          act={() => set(null)}
        >
          Nothing is charged by itself any more. A payment that is under way goes on.
        </Confirm>
      )}
    </div>
  )
}

function Rule(props: {
  readonly rule: NonNullable<Balance['auto_topup']>
  readonly unit: Balance['unit']
}) {
  const { amount_pusd, below_pusd, month_pusd, month_max_pusd, stopped } = props.rule
  const shown = (pusd: string) => balanceShort(BigInt(pusd), props.unit)
  return (
    <>
      <p className="small">
        {shown(amount_pusd)} from the newest card when the balance is below {shown(below_pusd)}:{' '}
        {shown(month_pusd)} of at most {shown(month_max_pusd)} in this month of UTC.
      </p>
      {stopped && (
        <div className="note warn">
          <p>
            <b>It rests after three declines. </b>Change the rule, or save it again, to go on.
          </p>
        </div>
      )}
    </>
  )
}

function ChangeRule({ balance, onClose }: Props) {
  const [asked, setAsked] = useState<Asked>(() => typedOf(balance.auto_topup))
  const act = async () => {
    await set(asked)
    onClose()
  }
  const field = (name: keyof Asked, label: string, hint: string) => (
    <Field
      label={label}
      name={`auto_topup.${name}`}
      inputMode="decimal"
      required
      hint={hint}
      value={asked[name]}
      onChange={({ target }) => setAsked({ ...asked, [name]: target.value.trim() })}
    />
  )
  const unit = balance.unit === 'tUSD' ? 'tUSD' : 'dollars'
  return (
    <FormDialog title="Automatic top-ups" verb="Save the rule" act={act} onClose={onClose}>
      {field('amount', `Amount, ${unit}`, 'Taken from the newest card of the account.')}
      {field('below', `When the balance is below, ${unit}`, 'Looked at each five seconds.')}
      {field('month_max', `At most in a month, ${unit}`, 'Of all automatic top-ups together.')}
    </FormDialog>
  )
}

/** The rule as a person types it. */
function typedOf(rule: Balance['auto_topup']): Asked {
  if (rule === null) return FIRST
  const typed = (pusd: string) => (Number(BigInt(pusd) / CENT_PUSD) / CENTS).toFixed(2)
  const { amount_pusd, below_pusd, month_max_pusd } = rule
  return {
    amount: typed(amount_pusd),
    below: typed(below_pusd),
    month_max: typed(month_max_pusd),
  }
}

const CENTS = 100
const CENT_PUSD = 10_000_000_000n

async function set(rule: Asked | null): Promise<void> {
  await withTouch(() => call('PATCH /v1/account', { body: { auto_topup: rule } }))
  await changed('GET /v1/balance', 'GET /v1/account')
}
