// ergon models list: what GET /v1/models says, and to the operator what failed.
import { apiGet, control, replyOf } from '#cli/client.ts'
import { print, printJson, table, tell } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'
import type { modelList } from '#contract/inference/inference-replies.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const list = replyOf<typeof modelList>(await apiGet(options, '/v1/models'))
  if (options.json) return printJson(list.data)
  print(
    table(
      ['MODEL', 'STATE', 'CLASS', 'TIERS', 'KIND', 'CONTEXT', 'J/1k TOKENS'],
      list.data.map((model) => [
        model.id,
        model.state,
        model.class,
        model.tiers.join(','),
        model.modalities.join(','),
        String(model.context_length),
        `${model.energy_j_per_1k_tokens.p50}${model.energy_j_per_1k_tokens.samples === 0 ? ' (declared)' : ''}`,
      ]),
    ),
  )
  for (const { id, state, reason } of await ownModels(options))
    if (state === 'failed') tell(`${id} is not served: ${reason}`)
}

/** All models, for users of the operator's socket of the called node; nothing for others. */
const ownModels = async (options: CommandCall['options']) =>
  options.baseUrl === undefined ? await control(options, 'model.list', {}).catch(() => []) : []
