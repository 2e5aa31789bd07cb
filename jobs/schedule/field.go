package schedule

import (
	"strconv"
	"strings"
)

// field is one place of an expression and the values it may hold.
type field struct {
	name     string
	min, max int
	names    []string // of the values from min on
}

const (
	dayField     = 3
	weekdayField = 5
)

var fields = [6]field{
	{name: phrase("second"), max: 59},
	{name: phrase("minute"), max: 59},
	{name: phrase("hour"), max: 23},
	dayField: {name: phrase("day of month"), min: 1, max: 31},
	{name: phrase("month"), min: 1, max: 12, names: strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec")},
	weekdayField: {name: phrase("day of week"), max: 7, names: strings.Fields("sun mon tue wed thu fri sat")},
}

// parse reads a list of items into s and reports whether L was one of them.
func (f *field) parse(text string, s *set) (lastDay bool, err error) {
	dayLike := f.name == fields[dayField].name || f.name == fields[weekdayField].name
	if text == "?" && dayLike {
		text = "*"
	}
	for item := range strings.SplitSeq(text, ",") {
		switch {
		case item == "":
			return false, phrased("a comma without a value")
		case strings.EqualFold(item, "L") && f.name == fields[dayField].name:
			lastDay = true
		case strings.Contains(item, "?"):
			return false, phrased("? may only be the whole of a day field")
		case dayLike && strings.ContainsAny(item, "#"), dayLike && f.beyondCron(item):
			return false, phrased("%s is not supported: of the signs L, W and # only L alone in the day of month is", quote(item))
		default:
			if err := f.parseItem(item, s); err != nil {
				return false, err
			}
		}
	}
	if f.name == fields[weekdayField].name {
		s.bits = (s.bits | s.bits>>7) & 0x7f // 7 is Sunday as well
	}
	return lastDay, nil
}

// beyondCron recognises the signs of Quartz, such as LW, 15W, L-3, 5L and FRIL.
func (f *field) beyondCron(item string) bool {
	item = strings.ToLower(item)
	if _, ok := f.value(strings.TrimRight(item, "lw")); ok {
		return strings.HasSuffix(item, "l") || (strings.HasSuffix(item, "w") && item != "w")
	}
	return item == "l" || item == "lw" || item == "w" || strings.HasPrefix(item, "l-")
}

// parseItem adds *, a value or a range, each with or without a step.
func (f *field) parseItem(item string, s *set) error {
	body, stepText, stepped := strings.Cut(item, "/")
	step := 1
	if stepped {
		n, ok := number(stepText)
		if !ok || n < 1 || n > f.max {
			return phrased("step %s is outside 1 to %d", quote(stepText), f.max)
		}
		step = n
	}
	low, high := f.min, f.max
	if body == "*" {
		if f.name == fields[weekdayField].name {
			high = 6 // 7 would count Sunday as two places of the step
		}
		s.any = s.any || step == 1
	} else {
		var err error
		if low, high, err = f.parseRange(body, stepped); err != nil {
			return err
		}
	}
	s.step = s.step || stepped
	for v := low; v <= high; v += step {
		s.bits |= 1 << v
	}
	return nil
}

// parseRange reads a or a-b. A single value with a step runs to the field's end.
func (f *field) parseRange(body string, stepped bool) (low, high int, err error) {
	lowText, highText, isRange := strings.Cut(body, "-")
	if low, err = f.need(lowText); err != nil {
		return 0, 0, err
	}
	switch {
	case !isRange && stepped && f.name == fields[weekdayField].name && low < 7:
		return low, 6, nil
	case !isRange && stepped:
		return low, f.max, nil
	case !isRange:
		return low, low, nil
	}
	if high, err = f.need(highText); err != nil {
		return 0, 0, err
	}
	if f.name == fields[weekdayField].name && high == 0 && low > 0 {
		high = 7 // fri-sun
	}
	if low > high {
		return 0, 0, phrased("the range %s runs backwards: write it as two, %s-%d,%d-%s",
			quote(body), lowText, f.max, f.min, highText)
	}
	return low, high, nil
}

func (f *field) need(text string) (int, error) {
	v, ok := f.value(text)
	switch {
	case ok:
		return v, nil
	case f.names != nil:
		return 0, phrased("%s is neither a number from %d to %d nor a name from %s to %s",
			quote(text), f.min, f.max, f.names[0], f.names[len(f.names)-1])
	}
	return 0, phrased("%s is not a number from %d to %d", quote(text), f.min, f.max)
}

func (f *field) value(text string) (int, bool) {
	for i, name := range f.names {
		if strings.EqualFold(text, name) {
			return f.min + i, true
		}
	}
	v, ok := number(text)
	return v, ok && v >= f.min && v <= f.max
}

// number reads digits only: no sign, and few enough not to overflow.
func number(text string) (int, bool) {
	if text == "" || len(text) > 9 || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}
