/** The end of a day that was chosen in a field of type `date`, in the zone of who chose. Empty is never. */
export const endOfDay = (day: string): string | undefined =>
  day === '' ? undefined : new Date(`${day}T23:59:59`).toISOString();
