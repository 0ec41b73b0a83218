using System.Collections.Immutable;
using System.Reflection.Emit;
using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using System.Reflection.PortableExecutable;

namespace Pnh.Api.Tests.Layering;

/// <summary>What one type of an assembly uses: the top-level types behind all tokens of its members (ECMA-335 II.22, II.23, III.1).</summary>
internal sealed class TypeUse : ISignatureTypeProvider<bool, bool>
{
    private static readonly Dictionary<int, OperandType> Operands = typeof(OpCodes).GetFields()
        .Select(static field => (OpCode)field.GetValue(null)!)
        .ToDictionary(static code => (int)(ushort)code.Value, static code => code.OperandType);

    private readonly MetadataReader _reader;
    private readonly HashSet<(string Room, string Name)> _used = [];

    private TypeUse(MetadataReader reader) => _reader = reader;

    /// <summary>Namespace and name of every type that the type's declaration, members and bodies mention, of other assemblies too.</summary>
    public static IReadOnlySet<(string Room, string Name)> Of(PEReader file, MetadataReader reader, TypeDefinitionHandle handle)
    {
        var use = new TypeUse(reader);
        use.Declaration(reader.GetTypeDefinition(handle));
        foreach (var method in reader.GetTypeDefinition(handle).GetMethods().Select(reader.GetMethodDefinition))
        {
            method.DecodeSignature(use, false);
            use.Attributes(method.GetCustomAttributes());
            use.Constraints(method.GetGenericParameters());
            if (method.RelativeVirtualAddress != 0)
            {
                use.Body(file.GetMethodBody(method.RelativeVirtualAddress));
            }
        }

        return use._used;
    }

    /// <summary>Namespace and name of the type, or of the outermost type that it is nested in.</summary>
    public static (string Room, string Name) TopOf(MetadataReader reader, TypeDefinitionHandle handle)
    {
        var type = reader.GetTypeDefinition(handle);
        return type.GetDeclaringType() is { IsNil: false } outer
            ? TopOf(reader, outer)
            : (reader.GetString(type.Namespace), reader.GetString(type.Name).Split('`')[0]);
    }

    private void Declaration(TypeDefinition type)
    {
        Token(type.BaseType);
        Attributes(type.GetCustomAttributes());
        Constraints(type.GetGenericParameters());
        foreach (var implemented in type.GetInterfaceImplementations())
        {
            Token(_reader.GetInterfaceImplementation(implemented).Interface);
        }

        foreach (var field in type.GetFields().Select(_reader.GetFieldDefinition))
        {
            field.DecodeSignature(this, false);
            Attributes(field.GetCustomAttributes());
        }

        foreach (var property in type.GetProperties().Select(_reader.GetPropertyDefinition))
        {
            Attributes(property.GetCustomAttributes());
        }
    }

    private void Body(MethodBodyBlock body)
    {
        if (!body.LocalSignature.IsNil)
        {
            _reader.GetStandaloneSignature(body.LocalSignature).DecodeLocalSignature(this, false);
        }

        foreach (var region in body.ExceptionRegions)
        {
            Token(region.CatchType);
        }

        for (var code = body.GetILReader(); code.RemainingBytes > 0;)
        {
            var first = code.ReadByte();
            switch (Operands[first == 0xFE ? 0xFE00 | code.ReadByte() : first])
            {
                case OperandType.InlineMethod or OperandType.InlineField or OperandType.InlineType or OperandType.InlineTok or OperandType.InlineSig:
                    Token(MetadataTokens.EntityHandle(code.ReadInt32()));
                    break;
                case OperandType.InlineSwitch:
                    var targets = code.ReadInt32();
                    code.Offset += 4 * targets;
                    break;
                case OperandType.InlineI8 or OperandType.InlineR:
                    code.Offset += 8;
                    break;
                case OperandType.InlineBrTarget or OperandType.InlineI or OperandType.InlineString or OperandType.ShortInlineR:
                    code.Offset += 4;
                    break;
                case OperandType.InlineVar:
                    code.Offset += 2;
                    break;
                case OperandType.ShortInlineBrTarget or OperandType.ShortInlineI or OperandType.ShortInlineVar:
                    code.Offset += 1;
                    break;
                default:
                    break;
            }
        }
    }

    private void Attributes(CustomAttributeHandleCollection attributes)
    {
        foreach (var attribute in attributes)
        {
            Token(_reader.GetCustomAttribute(attribute).Constructor);
        }
    }

    private void Constraints(GenericParameterHandleCollection parameters)
    {
        foreach (var constraint in parameters.SelectMany(parameter => _reader.GetGenericParameter(parameter).GetConstraints()))
        {
            Token(_reader.GetGenericParameterConstraint(constraint).Type);
        }
    }

    private void Token(EntityHandle handle)
    {
        if (handle.IsNil)
        {
            return;
        }

        switch (handle.Kind)
        {
            case HandleKind.TypeDefinition:
                _used.Add(TopOf(_reader, (TypeDefinitionHandle)handle));
                break;
            case HandleKind.TypeReference:
                Reference((TypeReferenceHandle)handle);
                break;
            case HandleKind.TypeSpecification:
                _reader.GetTypeSpecification((TypeSpecificationHandle)handle).DecodeSignature(this, false);
                break;
            case HandleKind.MethodDefinition:
                Token(_reader.GetMethodDefinition((MethodDefinitionHandle)handle).GetDeclaringType());
                break;
            case HandleKind.FieldDefinition:
                Token(_reader.GetFieldDefinition((FieldDefinitionHandle)handle).GetDeclaringType());
                break;
            case HandleKind.MemberReference:
                Token(_reader.GetMemberReference((MemberReferenceHandle)handle).Parent);
                break;
            case HandleKind.MethodSpecification:
                var generic = _reader.GetMethodSpecification((MethodSpecificationHandle)handle);
                Token(generic.Method);
                generic.DecodeSignature(this, false);
                break;
            default:
                break;
        }
    }

    private void Reference(TypeReferenceHandle handle)
    {
        var type = _reader.GetTypeReference(handle);
        if (type.ResolutionScope.Kind == HandleKind.TypeReference)
        {
            Reference((TypeReferenceHandle)type.ResolutionScope);
        }
        else
        {
            _used.Add((_reader.GetString(type.Namespace), _reader.GetString(type.Name).Split('`')[0]));
        }
    }

    // What a signature is made of; the values mean nothing, each type that is met is noted.
    bool ISimpleTypeProvider<bool>.GetPrimitiveType(PrimitiveTypeCode typeCode) => false;

    bool ISimpleTypeProvider<bool>.GetTypeFromDefinition(MetadataReader reader, TypeDefinitionHandle handle, byte rawTypeKind) => Note(handle);

    bool ISimpleTypeProvider<bool>.GetTypeFromReference(MetadataReader reader, TypeReferenceHandle handle, byte rawTypeKind) => Note(handle);

    bool ISignatureTypeProvider<bool, bool>.GetTypeFromSpecification(MetadataReader reader, bool context, TypeSpecificationHandle handle, byte rawTypeKind) =>
        Note(handle);

    bool ISZArrayTypeProvider<bool>.GetSZArrayType(bool elementType) => false;

    bool IConstructedTypeProvider<bool>.GetArrayType(bool elementType, ArrayShape shape) => false;

    bool IConstructedTypeProvider<bool>.GetByReferenceType(bool elementType) => false;

    bool IConstructedTypeProvider<bool>.GetGenericInstantiation(bool genericType, ImmutableArray<bool> typeArguments) => false;

    bool IConstructedTypeProvider<bool>.GetPointerType(bool elementType) => false;

    bool ISignatureTypeProvider<bool, bool>.GetFunctionPointerType(MethodSignature<bool> signature) => false;

    bool ISignatureTypeProvider<bool, bool>.GetGenericMethodParameter(bool context, int index) => false;

    bool ISignatureTypeProvider<bool, bool>.GetGenericTypeParameter(bool context, int index) => false;

    bool ISignatureTypeProvider<bool, bool>.GetModifiedType(bool modifier, bool unmodifiedType, bool isRequired) => false;

    bool ISignatureTypeProvider<bool, bool>.GetPinnedType(bool elementType) => false;

    private bool Note(EntityHandle handle)
    {
        Token(handle);
        return false;
    }
}
