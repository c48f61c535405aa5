// A new pack of a time in whole days of UTC. What its work costs at most comes with the answer.
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { changed } from '#console/client/queries.ts'
import type { ReplyOf } from '#console/client/operations.ts'
import { energyShort } from '#console/figures/energy.ts'
import { moneyShort } from '#console/figures/money.ts'
import { Dialog } from '#console/parts/forms/dialog.tsx'
import { Field } from '#console/parts/forms/field.tsx'
import { FormDialog } from '#console/parts/forms/form-dialog.tsx'
import { useNow } from '#console/parts/time/zone.ts'
import { useUnit } from '#console/live/use-unit.ts'
import { dayOf, offeredDays, spanOf } from './pack-days.ts'

type Props = { readonly madeAt: Date; readonly onClose: () => void }

/** `madeAt` is when the account was made: there is nothing to prove of the time before. */
export function NewPack({ madeAt, onClose }: Props) {
  const [form, setForm] = useState(() => offeredDays(new Date(), madeAt))
  const today = dayOf(useNow('day').getTime())
  const [made, setMade] = useState<ReplyOf<'POST /v1/compliance/packs'>>()
  const act = async () => {
    setMade(await call('POST /v1/compliance/packs', { body: spanOf(form, new Date()) }))
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
        min={dayOf(madeAt.getTime())}
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
