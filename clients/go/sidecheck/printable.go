package sidecheck

import (
	"strings"
	"unicode"
)

// notPrintable are controls (ECMA-48), line and paragraph separators, and format characters that
// show nothing or change the direction of a text. The ranges do not follow the Unicode version of
// the tool chain: the clients of all languages have the same.
var notPrintable = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x0000, Hi: 0x001f, Stride: 1},
		{Lo: 0x007f, Hi: 0x009f, Stride: 1},
		{Lo: 0x00ad, Hi: 0x00ad, Stride: 1},
		{Lo: 0x061c, Hi: 0x061c, Stride: 1},
		{Lo: 0x180e, Hi: 0x180e, Stride: 1},
		{Lo: 0x200b, Hi: 0x200f, Stride: 1},
		{Lo: 0x2028, Hi: 0x202e, Stride: 1},
		{Lo: 0x2060, Hi: 0x206f, Stride: 1},
		{Lo: 0xfeff, Hi: 0xfeff, Stride: 1},
		{Lo: 0xfff9, Hi: 0xfffb, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0xe0000, Hi: 0xe007f, Stride: 1},
	},
	LatinOffset: 3,
}

// makePrintable returns text of a server with a space in place of each character that is not
// printable.
func makePrintable(text string) string {
	return strings.Map(func(character rune) rune {
		if unicode.Is(notPrintable, character) {
			return ' '
		}
		return character
	}, text)
}

var escapes = strings.NewReplacer(`"`, `\"`, `\`, `\\`)

// quote returns text in quotes, printable, with a backslash before quotes and backslashes.
func quote(text string) string { return `"` + escapes.Replace(makePrintable(text)) + `"` }
