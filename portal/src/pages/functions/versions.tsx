// The versions of a function.
import { sourceName } from '#contract/functions/source-file.ts'
import { call } from '#console/client/call.ts'
import { withTouch } from '#console/client/touch.ts'
import { bytesShort } from '#console/figures/amounts.ts'
import type { Column } from '#console/parts/page/table.tsx'
import { Versions } from '#console/parts/resources/versions.tsx'
import type { Deployed, Version } from './function.ts'
import { functionsChanged } from './use-functions.ts'

const MEMORY: Column<Version> = {
  title: 'Memory',
  className: 'num wide-only',
  cell: ({ memory_bytes }) => bytesShort(BigInt(memory_bytes)),
}

export const FunctionVersions = ({ one }: { readonly one: Deployed }) => (
  <Versions
    one={one}
    madeOf={({ file }) => sourceName(file)}
    columns={[MEMORY]}
    own="code, variables and route"
    rollBack={async (version) => {
      const asked = { path: { function: one.id }, body: { version } }
      await withTouch(() => call('POST /v1/functions/:function/rollback', asked))
      await functionsChanged()
    }}
  />
)
