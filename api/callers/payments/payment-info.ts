import { parseUnits } from 'viem'
import { CURRENCY_DECIMALS, type PaymentTerms } from './terms.js'

/** The OpenAPI extension x-payment-info of an operation with a price, as MPP's discovery has it. Amounts in base units. */
export const paymentInfo = (terms: PaymentTerms, price: string, description: string) => ({
  offers: [
    {
      method: 'tempo',
      intent: 'charge',
      amount: parseUnits(price, CURRENCY_DECIMALS).toString(),
      currency: terms.currency,
      description,
    },
  ],
})
