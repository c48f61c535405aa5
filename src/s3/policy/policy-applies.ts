// Checks that the conditions of a statement can have an effect: a condition on a key that an action does not have
// never holds, or always does.
import { storageFault } from '#contract/storage/storage-errors.ts'
import { Judging } from './judging.ts'
import { conditionsHold, type PolicyCondition } from './policy-conditions.ts'
import { ACTIONS, actionsWith, mayHaveKey } from './policy-keys.ts'

type Checked = {
  readonly effect: 'Allow' | 'Deny'
  readonly conditions: readonly PolicyCondition[]
  readonly isAbout: (action: string) => boolean
  /** True when the statement names the action without wildcards. */
  readonly names: (action: string) => boolean
}

/**
 * Throws MalformedPolicy when no action of the statement has the key of a condition, as AWS does. Throws too when the
 * condition would not restrict an action that is named or that seems to have the key; AWS accepts that statement,
 * which protects nothing.
 */
export function checkApplies({ effect, conditions, isAbout, names }: Checked): void {
  for (const condition of conditions) {
    const { key } = condition
    const having = actionsWith(key)
    if (having === undefined) continue
    if (![...having].some(isAbout)) throw inapplicable(key)
    if (!letsThrough(effect, condition)) continue
    const misled = [...ACTIONS].find(
      (action) => !having.has(action) && mayHaveKey(action, key, names(action)) && isAbout(action),
    )
    if (misled !== undefined) throw inapplicable(key, misled)
  }
}

/** True when the condition has no effect on actions without the key; an Allow with `IfExists` intends that. */
function letsThrough(effect: 'Allow' | 'Deny', condition: PolicyCondition): boolean {
  const holds = conditionsHold([condition], { context: () => undefined, judging: new Judging() })
  return effect === 'Deny' ? !holds : holds && !condition.ifExists
}

const inapplicable = (key: string, action?: string) =>
  storageFault(
    'MalformedPolicy',
    `Conditions do not apply to combination of actions and resources in statement: ${
      action === undefined ? 'no action' : `${action} never`
    } has ${key}`,
  )
