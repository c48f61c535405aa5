// A new pack of a time in whole days of UTC. What its work costs at most comes with the answer.
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { changed } from '#console/client/queries.ts'
import type { ReplyOf } from '#console/client/operations.ts'
import { energyShort } from '#console/figures/energy.ts'
import { moneyShort } from '#console/figures/money.ts'
import { Dialog } from '#console/parts/dialog.tsx'
import { Field } from '#console/parts/field.tsx'
import { FormDialog } from '#console/parts/form-dialog.tsx'
import { useNow } from '#console/parts/zone.ts'
import { useUnit } from '#console/live/use-unit.ts'

const DAY_MS = 86_400_000
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** The month before the one of today. */
function lastMonth(): { readonly from: string; readonly to: string } {
  const now = new Date()
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  return { from: dayOf(Date.UTC(year, month - 1, 1)), to: dayOf(Date.UTC(year, month, 1) - DAY_MS) }
}

/** From the first moment of a day to the end of another, at most to now. */
const bodyOf = ({ from, to }: { readonly from: string; readonly to: string }) => ({
  from: `${from}T00:00:00Z`,
  to: new Date(Math.min(new Date(`${to}T00:00:00Z`).getTime() + DAY_MS, Date.now())).toISOString(),
})

export function NewPack({ onClose }: { readonly onClose: () => void }) {
  const [form, setForm] = useState(lastMonth)
  const today = dayOf(useNow('day').getTime())
  const [made, setMade] = useState<ReplyOf<'POST /v1/compliance/packs'>>()
  const act = async () => {
    setMade(await call('POST /v1/compliance/packs', { body: bodyOf(form) }))
    await changed('GET /v1/compliance/packs')
  }
  if (made !== undefined) return <Begun pack={made} onClose={onClose} />
  return (
    <FormDialog title="Make a pack" verb="Make the pack" act={act} onClose={onClose}>
      <Field
        label="From the day, UTC"
        name="from"
        type="date"
        required
        max={today}
        value={form.from}
        onChange={({ target }) => setForm({ ...form, from: target.value })}
      />
      <Field
        label="To the end of the day"
        name="to"
        type="date"
        required
        min={form.from}
        max={today}
        value={form.to}
        onChange={({ target }) => setForm({ ...form, to: target.value })}
      />
      <p className="small">
        The work is charged by its energy, and bounded: the most that it can cost is said at once,
        and Cancel ends it.
      </p>
    </FormDialog>
  )
}

const Begun = (props: {
  readonly pack: ReplyOf<'POST /v1/compliance/packs'>
  readonly onClose: () => void
}) => (
  <Dialog title="The pack is being made" onClose={props.onClose}>
    <p className="small">
      It costs {energyShort(BigInt(props.pack.ceiling_energy_nj))},{' '}
      {moneyShort(BigInt(props.pack.ceiling_pusd), useUnit())}, at most. It is in the list when it
      is ready.
    </p>
    <div className="tools">
      <button type="button" className="btn primary" onClick={props.onClose}>
        Go to the list
      </button>
    </div>
  </Dialog>
)
