// Energy in three digits; the exact figure on hover, and for `c`.
import { energyExact, energyShort } from '#console/figures/energy.ts'

export const Energy = ({ nj }: { readonly nj: bigint }) => (
  <span title={energyExact(nj)} data-copy={energyExact(nj)}>
    {energyShort(nj)}
  </span>
)
