r"""Character escapes and character classes `[..]`, `[^..]`.

ECMA-262 section 22.2.1 (CharacterClass, ClassEscape), with the `u` flag. The leniency of
Annex B is applied to punctuation only: real schemas have `\-` and `\@` outside classes, and
a dash next to a set, as in `[\w-.]`, which means the set, a dash and a point. A letter or
digit after a backslash has the meaning of the specification or is rejected: in other
languages `\Z`, `\a` and `\i` have meanings that would be lost silently.
"""

import base64
import re
import zlib
from functools import cache
from itertools import accumulate, chain

from sidecheck_server.core.patterns.codepoints import (
    DIGITS,
    LAST,
    WHITE_SPACE,
    WORD,
    Ranges,
    complement,
    unite,
)
from sidecheck_server.core.patterns.cursor import Cursor, PatternError, PatternFault, quote
from sidecheck_server.core.patterns.property_data import PACKED

__all__ = [
    "BINARY_PROPERTIES",
    "GENERAL_CATEGORIES",
    "SCRIPTS",
    "find_property",
    "read_character_escape",
    "read_class",
    "read_set_escape",
    "read_unicode_escape",
]


def index_names(table: str) -> dict[str, str]:
    """Return a mapping of every name in *table* to the first name of its entry."""
    entries = [entry.split() for entry in table.split(",")]
    return {name: names[0] for names in entries for name in names}


GENERAL_CATEGORIES = index_names("""
L Letter, LC Cased_Letter, Lu Uppercase_Letter, Ll Lowercase_Letter, Lt Titlecase_Letter,
Lm Modifier_Letter, Lo Other_Letter, M Mark Combining_Mark, Mn Nonspacing_Mark, Mc Spacing_Mark,
Me Enclosing_Mark, N Number, Nd Decimal_Number digit, Nl Letter_Number, No Other_Number,
P Punctuation punct, Pc Connector_Punctuation, Pd Dash_Punctuation, Ps Open_Punctuation,
Pe Close_Punctuation, Pi Initial_Punctuation, Pf Final_Punctuation, Po Other_Punctuation,
S Symbol, Sm Math_Symbol, Sc Currency_Symbol, Sk Modifier_Symbol, So Other_Symbol, Z Separator,
Zs Space_Separator, Zl Line_Separator, Zp Paragraph_Separator, C Other, Cc Control cntrl,
Cf Format, Cs Surrogate, Co Private_Use, Cn Unassigned
""")

BINARY_PROPERTIES = index_names("""
ASCII, ASCII_Hex_Digit AHex, Alphabetic Alpha, Any, Assigned, Bidi_Control Bidi_C,
Bidi_Mirrored Bidi_M, Case_Ignorable CI, Cased, Changes_When_Casefolded CWCF,
Changes_When_Casemapped CWCM, Changes_When_Lowercased CWL, Changes_When_NFKC_Casefolded CWKCF,
Changes_When_Titlecased CWT, Changes_When_Uppercased CWU, Dash, Default_Ignorable_Code_Point DI,
Deprecated Dep, Diacritic Dia, Emoji, Emoji_Component EComp, Emoji_Modifier EMod,
Emoji_Modifier_Base EBase, Emoji_Presentation EPres, Extended_Pictographic ExtPict, Extender Ext,
Grapheme_Base Gr_Base, Grapheme_Extend Gr_Ext, Hex_Digit Hex, IDS_Binary_Operator IDSB,
IDS_Trinary_Operator IDST, ID_Continue IDC, ID_Start IDS, Ideographic Ideo, Join_Control Join_C,
Logical_Order_Exception LOE, Lowercase Lower, Math, Noncharacter_Code_Point NChar,
Pattern_Syntax Pat_Syn, Pattern_White_Space Pat_WS, Quotation_Mark QMark, Radical,
Regional_Indicator RI, Sentence_Terminal STerm, Soft_Dotted SD, Terminal_Punctuation Term,
Unified_Ideograph UIdeo, Uppercase Upper, Variation_Selector VS, White_Space space,
XID_Continue XIDC, XID_Start XIDS
""")

SCRIPTS = index_names("""
Adlam Adlm, Ahom, Anatolian_Hieroglyphs Hluw, Arabic Arab, Armenian Armn, Avestan Avst,
Balinese Bali, Bamum Bamu, Bassa_Vah Bass, Batak Batk, Bengali Beng, Beria_Erfe Berf,
Bhaiksuki Bhks, Bopomofo Bopo, Brahmi Brah, Braille Brai, Buginese Bugi, Buhid Buhd,
Canadian_Aboriginal Cans, Carian Cari, Caucasian_Albanian Aghb, Chakma Cakm, Cham, Cherokee Cher,
Chorasmian Chrs, Common Zyyy, Coptic Copt Qaac, Cuneiform Xsux, Cypriot Cprt, Cypro_Minoan Cpmn,
Cyrillic Cyrl, Deseret Dsrt, Devanagari Deva, Dives_Akuru Diak, Dogra Dogr, Duployan Dupl,
Egyptian_Hieroglyphs Egyp, Elbasan Elba, Elymaic Elym, Ethiopic Ethi, Garay Gara, Georgian Geor,
Glagolitic Glag, Gothic Goth, Grantha Gran, Greek Grek, Gujarati Gujr, Gunjala_Gondi Gong,
Gurmukhi Guru, Gurung_Khema Gukh, Han Hani, Hangul Hang, Hanifi_Rohingya Rohg, Hanunoo Hano,
Hatran Hatr, Hebrew Hebr, Hiragana Hira, Imperial_Aramaic Armi, Inherited Zinh Qaai,
Inscriptional_Pahlavi Phli, Inscriptional_Parthian Prti, Javanese Java, Kaithi Kthi, Kannada Knda,
Katakana Kana, Kawi, Kayah_Li Kali, Kharoshthi Khar, Khitan_Small_Script Kits, Khmer Khmr,
Khojki Khoj, Khudawadi Sind, Kirat_Rai Krai, Lao Laoo, Latin Latn, Lepcha Lepc, Limbu Limb,
Linear_A Lina, Linear_B Linb, Lisu, Lycian Lyci, Lydian Lydi, Mahajani Mahj, Makasar Maka,
Malayalam Mlym, Mandaic Mand, Manichaean Mani, Marchen Marc, Masaram_Gondi Gonm, Medefaidrin Medf,
Meetei_Mayek Mtei, Mende_Kikakui Mend, Meroitic_Cursive Merc, Meroitic_Hieroglyphs Mero,
Miao Plrd, Modi, Mongolian Mong, Mro Mroo, Multani Mult, Myanmar Mymr, Nabataean Nbat,
Nag_Mundari Nagm, Nandinagari Nand, New_Tai_Lue Talu, Newa, Nko Nkoo, Nushu Nshu,
Nyiakeng_Puachue_Hmong Hmnp, Ogham Ogam, Ol_Chiki Olck, Ol_Onal Onao, Old_Hungarian Hung,
Old_Italic Ital, Old_North_Arabian Narb, Old_Permic Perm, Old_Persian Xpeo, Old_Sogdian Sogo,
Old_South_Arabian Sarb, Old_Turkic Orkh, Old_Uyghur Ougr, Oriya Orya, Osage Osge, Osmanya Osma,
Pahawh_Hmong Hmng, Palmyrene Palm, Pau_Cin_Hau Pauc, Phags_Pa Phag, Phoenician Phnx,
Psalter_Pahlavi Phlp, Rejang Rjng, Runic Runr, Samaritan Samr, Saurashtra Saur, Sharada Shrd,
Shavian Shaw, Siddham Sidd, Sidetic Sidt, SignWriting Sgnw, Sinhala Sinh, Sogdian Sogd,
Sora_Sompeng Sora, Soyombo Soyo, Sundanese Sund, Sunuwar Sunu, Syloti_Nagri Sylo, Syriac Syrc,
Tagalog Tglg, Tagbanwa Tagb, Tai_Le Tale, Tai_Tham Lana, Tai_Viet Tavt, Tai_Yo Tayo, Takri Takr,
Tamil Taml, Tangsa Tnsa, Tangut Tang, Telugu Telu, Thaana Thaa, Thai, Tibetan Tibt, Tifinagh Tfng,
Tirhuta Tirh, Todhri Todr, Tolong_Siki Tols, Toto, Tulu_Tigalari Tutg, Ugaritic Ugar,
Unknown Zzzz, Vai Vaii, Vithkuqi Vith, Wancho Wcho, Warang_Citi Wara, Yezidi Yezi, Yi Yiii,
Zanabazar_Square Zanb
""")


def find_property(name: str, value: str | None) -> Ranges:
    r"""Return the code points of `\p{name}` or `\p{name=value}`.

    Raises LookupError if ECMA-262 has no such property or value.
    """
    match name, value:
        case _, None if name in GENERAL_CATEGORIES:
            return list_members(f"gc={GENERAL_CATEGORIES[name]}")
        case _, None:
            return list_members(BINARY_PROPERTIES[name])
        case (("General_Category" | "gc"), str()):
            return list_members(f"gc={GENERAL_CATEGORIES[value]}")
        case (("Script" | "sc"), str()):
            return list_members(f"sc={SCRIPTS[value]}")
        case (("Script_Extensions" | "scx"), str()):
            script = SCRIPTS[value]
            extended = f"scx={script}"
            return list_members(extended if extended in read_data() else f"sc={script}")
    raise LookupError(name)


# An unbounded cache, since there are only a few hundred properties.
@cache
def list_members(name: str) -> Ranges:
    """Return the ranges of the property *name* of the packed data."""
    numbers = map(ord, read_data()[name])
    ends = list(accumulate(numbers))
    return tuple(zip(ends[::2], ends[1::2], strict=True))


@cache
def read_data() -> dict[str, str]:
    """Return the packed ranges of each property."""
    packed = zlib.decompress(base64.b64decode(PACKED)).decode("utf-8", "surrogatepass")
    index, _, numbers = packed.partition("\n")
    data, start = {}, 0
    for entry in index.split():
        name, _, length = entry.rpartition(":")
        data[name] = numbers[start : start + int(length)]
        start += int(length)
    return data


SETS: dict[str, Ranges] = {
    "d": DIGITS,
    "D": complement(DIGITS),
    "s": WHITE_SPACE,
    "S": complement(WHITE_SPACE),
    "w": WORD,
    "W": complement(WORD),
}

#: ControlEscape, section 22.2.1.
CONTROLS = {"f": 0x0C, "n": 0x0A, "r": 0x0D, "t": 0x09, "v": 0x0B}

REMEDIES = {
    "A": "the start of the text is `^`",
    "Z": "the end of the text is `$`",
    "z": "the end of the text is `$`",
    "a": r"the bell is `\x07`",
    "e": r"the escape character is `\x1B`",
    "h": r"blanks are `[ \t]`",
    "R": r"a line end is `(?:\r\n|[\n\r])`",
    "Q": "put a backslash before each character instead",
    "c": r"a control character is `\c` and a letter",
    "k": "a reference to a named group is `\\k<name>`",
    "x": r"a character is `\x` and two hexadecimal digits",
    "u": r"a character is `\u` and four hexadecimal digits, or `\u{...}` up to 10FFFF",
}

LETTER = re.compile("[A-Za-z]")
BYTE = re.compile("[0-9A-Fa-f]{2}")
UNIT = re.compile("[0-9A-Fa-f]{4}")
TRAIL = re.compile(r"\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})")
BRACED = re.compile(r"\{([0-9A-Fa-f]+)\}")
PROPERTY = re.compile(r"\{([A-Za-z0-9_]+)(?:=([A-Za-z0-9_]+))?\}")


def read_set_escape(cursor: Cursor) -> Ranges | None:
    r"""Consume and return the set after a backslash (`d D s S w W p P`), or None.

    Raises PatternError for a property that ECMA-262 does not define.
    """
    letter = cursor.peek()
    if letter in ("p", "P"):
        cursor.take()
        members = read_property(cursor, cursor.offset - 2)
        return members if letter == "p" else complement(members)
    if letter in SETS:
        cursor.take()
        return SETS[letter]
    return None


def read_property(cursor: Cursor, start: int) -> Ranges:
    property_match = cursor.match(PROPERTY)
    if not property_match:
        raise PatternError.at(
            start,
            PatternFault.SYNTAX,
            "a Unicode property without its name",
            r"write `\p{Letter}` or `\p{Script=Greek}`",
        )
    try:
        return find_property(property_match[1], property_match[2])
    except LookupError:
        raise PatternError.at(
            start,
            PatternFault.SYNTAX,
            f"{quote(property_match[0])} is not a Unicode property of ECMA-262",
            "names are case-sensitive: `Letter`, `Lu`, `Script=Greek`, `ASCII`",
        ) from None


def read_character_escape(cursor: Cursor) -> int:
    """Consume the rest of an escape after its backslash, and return its code point.

    Raises PatternError for an invalid escape.
    """
    start = cursor.offset - 1
    character = cursor.take()
    match character:
        case "":
            raise PatternError.at(
                start,
                PatternFault.SYNTAX,
                "a backslash with nothing after it",
                r"a backslash itself is `\\`",
            )
        case "u":
            return read_unicode_escape(cursor, start)
        case "x" if byte := cursor.match(BYTE):
            return int(byte[0], 16)
        case "c" if letter := cursor.match(LETTER):
            return ord(letter[0]) % 32
        case "0" if not ("0" <= cursor.peek() <= "9"):
            return 0
        case _ if character in CONTROLS:
            return CONTROLS[character]
        case _ if not character.isalnum():
            return ord(character)
    raise escape_error(start, character)


def read_unicode_escape(cursor: Cursor, start: int) -> int:
    r"""Consume the digits after `\u`, or a surrogate pair; return the code point.

    *start* is the offset of the backslash. Raises PatternError.
    """
    if braced := cursor.match(BRACED):
        digits = braced[1].lstrip("0")
        point = int(digits[:7] or "0", 16)
        if point <= LAST:
            return point
    elif unit := cursor.match(UNIT):
        point = int(unit[0], 16)
        if 0xD800 <= point <= 0xDBFF and (trail := cursor.match(TRAIL)):
            return 0x10000 + ((point - 0xD800) << 10) + int(trail[1], 16) - 0xDC00
        return point
    raise escape_error(start, "u")


def escape_error(start: int, character: str) -> PatternError:
    octal = "references count from 1, and octal escapes are not allowed with the `u` flag"
    remedy = octal if character.isdecimal() else "write the character itself"
    return PatternError.at(
        start,
        PatternFault.SYNTAX,
        f"{quote(chr(92) + character)} is not an escape of ECMA-262",
        REMEDIES.get(character, remedy),
    )


DASH = (0x2D, 0x2D)
#: A dash between two members; at the end of a class it is a member itself.
DASH_BETWEEN = re.compile(r"-(?!\])")
BACKSPACE = 0x08


def read_class(cursor: Cursor) -> Ranges:
    """Consume a class after its `[`, up to its `]`; return its code points.

    Raises PatternError.
    """
    opened = cursor.offset - 1
    negated = cursor.accept("^")
    # Deduplicate the sets: a property may have a thousand ranges and occur a hundred times.
    members: dict[Ranges, None] = {}
    while not cursor.accept("]"):
        members[read_members(cursor, opened)] = None
    ranges = unite(chain.from_iterable(members))
    return complement(ranges) if negated else ranges


def read_members(cursor: Cursor, opened: int) -> Ranges:
    """Consume and return one member, or a range of two members with a dash."""
    start = cursor.offset
    first = read_member(cursor, opened)
    if not cursor.match(DASH_BETWEEN):
        return to_ranges(first)
    last = read_member(cursor, opened)
    if not (isinstance(first, int) and isinstance(last, int)):
        return (*to_ranges(first), DASH, *to_ranges(last))
    if first > last:
        raise PatternError.at(
            start,
            PatternFault.SYNTAX,
            f"the range {quote(cursor.source[start : cursor.offset])} runs backwards",
            "put the lower character first, or a dash at the end of the class",
        )
    return ((first, last),)


def to_ranges(member: int | Ranges) -> Ranges:
    return ((member, member),) if isinstance(member, int) else member


def read_member(cursor: Cursor, opened: int) -> int | Ranges:
    """Consume one member, and return its code point or the set of its escape."""
    character = cursor.take()
    if not character:
        raise PatternError.at(
            opened,
            PatternFault.SYNTAX,
            "a class is not closed",
            r"end it with `]`, or write `\[` for the character",
        )
    if character != "\\":
        return ord(character)
    if cursor.accept("b"):
        return BACKSPACE
    members = read_set_escape(cursor)
    return read_character_escape(cursor) if members is None else members
