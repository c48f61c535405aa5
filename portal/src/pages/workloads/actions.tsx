// The actions on a workload.
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { withTouch } from '#console/client/touch.ts'
import { bytesShort } from '#console/figures/amounts.ts'
import type { InputOf } from '#console/client/operations.ts'
import { BudgetField, budgetOf, typedBudget } from '#console/parts/forms/budget-field.tsx'
import { Field } from '#console/parts/forms/field.tsx'
import { FormDialog } from '#console/parts/forms/form-dialog.tsx'
import { ResourceActions } from '#console/parts/resources/resource-actions.tsx'
import { workloadsChanged } from './use-workloads.ts'
import { restCost, type Workload } from './workload.ts'

const pathOf = ({ id }: Workload) => ({ workload: id })

export const Actions = ({ one }: { readonly one: Workload }) => (
  <ResourceActions
    name={one.name}
    status={one.status}
    list="/workloads"
    suspend={async (isSuspended) => {
      const key = isSuspended
        ? 'POST /v1/workloads/:workload/suspend'
        : 'POST /v1/workloads/:workload/resume'
      await call(key, { path: pathOf(one), body: {} })
      await workloadsChanged()
    }}
    remove={async () => {
      await call('DELETE /v1/workloads/:workload', { path: pathOf(one) })
      await workloadsChanged()
    }}
    suspendWords={`${one.instances === 0 ? 'It is asleep' : 'Its instances end'}, and callers get 503 until it is resumed. Nothing is deleted, and ${restCost(one)}.`}
    removeWords={`Its versions, its variables and its log are deleted${volumesToo(one)}, and its addresses answer no more.`}
    change="Scale and budget"
    dialog={(onClose) => <Change one={one} onClose={onClose} />}
  />
)

const volumesToo = ({ volumes }: Workload): string =>
  volumes.length === 0 ? '' : `, and the data of its volumes: ${volumes.map(volumeText).join(', ')}`

const volumeText = ({ name, used_bytes: used }: Workload['volumes'][number]): string =>
  `${name} (${bytesShort(BigInt(used))})`

type Props = { readonly one: Workload; readonly onClose: () => void }

function Change({ one, onClose }: Props) {
  const [min, setMin] = useState(String(one.scale.min))
  const [max, setMax] = useState(String(one.scale.max))
  const [target, setTarget] = useState(String(one.scale.target_requests))
  const [after, setAfter] = useState(one.scale_to_zero_after)
  const [budget, setBudget] = useState(typedBudget(one.energy_budget))
  const act = async () => {
    const body: InputOf<'PATCH /v1/workloads/:workload'>['body'] = {
      scale: { min: Number(min), max: Number(max), target_requests: Number(target) },
      scale_to_zero_after: after,
      energy_budget: budgetOf(budget),
    }
    const asked = { path: pathOf(one), body }
    await withTouch(() => call('PATCH /v1/workloads/:workload', asked))
    await workloadsChanged()
    onClose()
  }
  return (
    <FormDialog
      title={`Scale and budget of ${one.name}`}
      verb="Change it"
      act={act}
      onClose={onClose}
    >
      <Count
        label="Least instances"
        name="scale.min"
        min={0}
        hint="0: it sleeps while nobody asks, and only its stored bytes cost."
        value={min}
        onChange={setMin}
      />
      <Count label="Most instances" name="scale.max" min={1} value={max} onChange={setMax} />
      <Count
        label="Requests at once of each instance"
        name="scale.target_requests"
        min={1}
        hint="Beyond them another instance starts, up to the most."
        value={target}
        onChange={setTarget}
      />
      <Field
        label="Asleep after"
        name="scale_to_zero_after"
        required
        hint="Without a request, such as 5m."
        value={after}
        onChange={({ target }) => setAfter(target.value)}
      />
      <BudgetField
        label="Most that it may use a day"
        hint="At the limit its instances end, and callers get 503 until 00:00 UTC."
        value={budget}
        onChange={setBudget}
      />
    </FormDialog>
  )
}

/** A field of a whole number. */
const Count = (props: {
  readonly label: string
  readonly name: string
  readonly min: number
  readonly hint?: string
  readonly value: string
  readonly onChange: (value: string) => void
}) => (
  <Field
    {...props}
    type="number"
    required
    onChange={({ target }) => props.onChange(target.value)}
  />
)
