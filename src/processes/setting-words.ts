// Settings whose words are known further up than config/ may look: models and zones of carbon. Asked with
// all other checks, before anything starts: a word that fails later fails in front of a running node.
import { ZONES, zoneKnown } from '#metering/carbon.ts'
import type { RawSettings } from '#config/env.ts'
import type { SettingKey } from '#config/settings.ts'
import { MODEL_NAMES, unknownDefaultModel } from '#inference/models/default-models.ts'

/** The faults of such settings, by their key; for readConfig(). */
export function wordFaults(raw: RawSettings): { readonly [K in SettingKey]?: string } {
  const { models, carbonZone, carbonSource } = raw
  const unknown = models === undefined ? undefined : unknownDefaultModel(models)
  // A live source may know zones that the table does not.
  const isMisspelt =
    carbonZone !== undefined && carbonSource !== 'electricity-maps' && !zoneKnown(carbonZone)
  return {
    ...(unknown === undefined
      ? {}
      : {
          models: `there is no default model "${unknown}"; it is default, none, or names by comma of ${MODEL_NAMES.join(', ')}`,
        }),
    ...(isMisspelt
      ? {
          carbonZone: `there is no figure for "${carbonZone}"; the built-in zones are ${ZONES.join(' ')}, others need ERGON_CARBON_SOURCE=electricity-maps`,
        }
      : {}),
  }
}
