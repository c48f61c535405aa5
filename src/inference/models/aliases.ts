// Further names of models, in the table `model_aliases`: clients that name another vendor's model are served
// without a change of their own.
import { fault } from '#contract/errors.ts'
import { AUTO } from '#inference/catalogue.ts'
import type { State } from '#state/connect.ts'

const ALIASES_MAX = 100
/** As vendors write names: gpt-4o-mini, meta-llama/Llama-3.1-8B, qwen3:8b. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,127}$/

/** The model that each alias stands for, by alias. */
export async function readAliases(
  state: Pick<State, 'query'>,
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await state.query<{ name: string; model: string }>(
    'select name, model from model_aliases order by name',
  )
  return new Map(rows.map(({ name, model }) => [name, model]))
}

/** Adds an alias or leads it to another model. Throws invalid_request, model_not_found. */
export async function addAlias(state: State, name: string, model: string): Promise<void> {
  if (!NAME.test(name))
    throw invalid(`"${name.slice(0, 200)}" is no name (letters, digits and . _ : / @ -)`, 'name')
  const { rows } = await state.query<{ id: string }>(
    "select id from models where state <> 'removed' order by position, id",
  )
  const served = [AUTO, ...rows.map(({ id }) => id)]
  if (served.includes(name)) throw invalid(`"${name}" is the name of a model`, 'name')
  if (!served.includes(model))
    throw fault(
      'model_not_found',
      `Could not add the alias: "${model}" is not served; there are ${served.join(', ')}`,
      { param: 'model' },
    )
  const { rowCount } = await state.query(
    `insert into model_aliases (name, model)
     select $1, $2 where exists (select from model_aliases where name = $1)
       or (select count(*) from model_aliases) < $3
     on conflict (name) do update set model = excluded.model`,
    [name, model, ALIASES_MAX],
  )
  if (rowCount === 0) throw invalid(`there are ${ALIASES_MAX}, the most`, 'name')
}

/** Throws model_not_found. */
export async function removeAlias(state: State, name: string): Promise<void> {
  const { rowCount } = await state.query('delete from model_aliases where name = $1', [name])
  if (rowCount === 0)
    throw fault('model_not_found', `Could not remove the alias: there is no "${name}"`)
}

const invalid = (why: string, param: string) =>
  fault('invalid_request', `Could not add the alias: ${why}`, { param })
