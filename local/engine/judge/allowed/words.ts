/** The words of a list that is written as text, separated by white space. */
export const words = (text: string): string[] => text.split(/\s+/).filter(Boolean)
