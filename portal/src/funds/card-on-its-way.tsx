// Says that a card comes from the processor's page.

export const CardOnItsWay = () => (
  <p className="small" role="status">
    A card is on its way: it is here once the processor has it.
  </p>
)
